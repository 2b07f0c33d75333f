import type { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Miniflare } from "miniflare";
import { withRetry } from "./retry.ts";

/** The names that `wrangler.toml` gives the same two: a record written here is served at once under `wrangler dev`. */
const KV_NAMESPACE_ID = "agent-env-records";
export const R2_BUCKET = "agent-env-store";

/** What of Miniflare's bindings is used. Their own types need a Worker's globals. */
export type R2Head = { key: string; size: number; etag: string; uploaded: Date; customMetadata?: Record<string, string> };
export type R2PutOptions = {
  onlyIf?: { etagDoesNotMatch?: string; etagMatches?: string };
  customMetadata?: Record<string, string>;
};
export type R2 = {
  get(key: string): Promise<(R2Head & { arrayBuffer(): Promise<ArrayBuffer> }) | null>;
  head(key: string): Promise<R2Head | null>;
  put(key: string, value: Buffer, options?: R2PutOptions): Promise<R2Head | null>;
  delete(key: string): Promise<void>;
  list(options: {
    prefix: string;
    cursor?: string;
    limit?: number;
    include?: string[];
  }): Promise<{ objects: R2Head[] } & ({ truncated: false } | { truncated: true; cursor: string })>;
};
export type Kv = {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  list(options: {
    prefix: string;
    cursor?: string;
    limit?: number;
  }): Promise<{ keys: { name: string }[] } & ({ list_complete: true } | { list_complete: false; cursor: string })>;
};

export type Bindings = { readonly bucket: R2; readonly namespace: Kv; close(): Promise<void> };

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
    workers: [
      {
        config: {
          name: "store",
          compatibilityDate: "2026-11-17",
          manifest: {
            mainModule: "none.mjs",
            modulesRoot: "/",
            modules: { "none.mjs": { type: "esm", contents: "export default { fetch: () => new Response(null, { status: 404 }) };" } },
          },
          env: { RECORDS: { type: "kv", id: KV_NAMESPACE_ID }, STORE: { type: "r2", name: R2_BUCKET } },
        },
      },
    ],
  });
  removeItsHandlers();
  try {
    await miniflare.ready;
  } catch (error) {
    await miniflare.dispose();
    throw error;
  }
  return { ...(await bindingsOf(miniflare)), close: () => miniflare.dispose() };
}

async function bindingsOf(miniflare: Miniflare): Promise<{ bucket: R2; namespace: Kv }> {
  const { STORE, RECORDS } = (await miniflare.getBindings()) as { STORE: R2; RECORDS: Kv };
  return { bucket: STORE, namespace: RECORDS };
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
