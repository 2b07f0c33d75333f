import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { startWorkerd } from "../infra/workerd.ts";
import type { Bindings } from "./bindings.ts";
import { bindingsAt } from "./bindings-client.ts";

/** The names that `wrangler.toml` gives the same two: a record written here is served at once by the edge gateway. */
const KV_NAMESPACE_ID = "agent-env-records";
export const R2_BUCKET = "agent-env-store";

const WORKER = "bindings-worker.mjs";

/** Miniflare's R2 and KV over the files in `persistPath`. Throws Miniflare's error when it can't be started. */
export async function startMiniflare(persistPath: string): Promise<Bindings> {
  const contents = await readFile(new URL(WORKER, import.meta.url), "utf8");
  const secret = randomBytes(32).toString("hex");
  const { miniflare, url } = await startWorkerd({
    persistPath,
    // A try that failed and succeeded later is no news; one that failed for good is told by its call.
    log: () => {},
    worker: {
      config: {
        name: "store",
        compatibilityDate: "2026-11-17",
        manifest: { mainModule: WORKER, modulesRoot: "/", modules: { [WORKER]: { type: "esm", contents } } },
        env: {
          RECORDS: { type: "kv", id: KV_NAMESPACE_ID },
          STORE: { type: "r2", name: R2_BUCKET },
          SECRET: { type: "text", value: secret },
        },
      },
      // Miniflare's proxies of bindings (`getBindings`) block this thread.
      dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] },
    },
  });
  const bindings = bindingsAt(url, secret);
  return { ...bindings, close: () => Promise.all([bindings.close(), miniflare.dispose()]).then(() => {}) };
}
