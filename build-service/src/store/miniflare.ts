import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Bindings } from "./bindings.ts";
import { bindingsAt } from "./bindings-client.ts";
import { withRetry } from "./retry.ts";

/** The names that `wrangler.toml` gives the same two: a record written here is served at once under `wrangler dev`. */
const KV_NAMESPACE_ID = "agent-env-records";
export const R2_BUCKET = "agent-env-store";

const WORKER = "bindings-worker.mjs";

/** workerd gives up its start when another process writes one of the files that it opens. */
const START = {
  tries: 10,
  isRetryable: (error: unknown) => /SQLITE_BUSY/.test(String(error)),
  firstPauseMs: 50,
  longestPauseMs: 2_000,
};

/**
 * Miniflare's R2 and KV over the files in `persistPath`, in a workerd that ends with this process. Throws Miniflare's error when
 * it can't be started.
 */
export function startMiniflare(persistPath: string): Promise<Bindings> {
  return withRetry(START, () => start(persistPath));
}

async function start(persistPath: string): Promise<Bindings> {
  const require = createRequire(import.meta.url);
  process.env["AGENT_ENV_WORKERD"] ??= createRequire(require.resolve("miniflare"))("workerd").default as string;
  process.env["MINIFLARE_WORKERD_PATH"] = fileURLToPath(new URL("workerd.sh", import.meta.url));
  const { Log, LogLevel, Miniflare } = await import("miniflare");
  const contents = await readFile(new URL(WORKER, import.meta.url), "utf8");
  const secret = randomBytes(32).toString("hex");
  const removeItsHandlers = newSignalHandlers();
  const miniflare = new Miniflare({
    resourcePersistencePath: persistPath,
    cf: false,
    enableDevRegistry: false,
    telemetry: { enabled: false },
    logRequests: false,
    log: new Log(LogLevel.NONE),
    // A try that failed and succeeded later is no news; one that failed for good is told by its call.
    handleStructuredLogs: () => {},
    // Miniflare's own port, which nothing here uses, gives every object of a bucket to every user of the machine (`/cdn-cgi/local/r2/public`).
    unsafeRuntimeEnv: { AGENT_ENV_CLOSED_SOCKET: "entry" },
    workers: [
      {
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
        // The Worker's own port: Miniflare's has another Worker before it, and its proxies of bindings (`getBindings`) block this thread.
        dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] },
      },
    ],
  });
  removeItsHandlers();
  try {
    const bindings = bindingsAt(await miniflare.unsafeGetDirectURL(), secret);
    return { ...bindings, close: () => Promise.all([bindings.close(), miniflare.dispose()]).then(() => {}) };
  } catch (error) {
    await miniflare.dispose();
    throw error;
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Removes the signal handlers that were added since, when it is called. Miniflare's end the process at once, and a command has
 * to take down what it started first.
 */
function newSignalHandlers(): () => void {
  const before = SIGNALS.map((signal) => new Set(process.listeners(signal)));
  return () => {
    for (const [index, signal] of SIGNALS.entries()) {
      for (const handler of process.listeners(signal)) if (!before[index]?.has(handler)) process.off(signal, handler);
    }
  };
}
