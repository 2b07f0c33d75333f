import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Miniflare, MiniflareOptions } from "miniflare";
import { withRetry } from "../store/retry.ts";

/** workerd gives up its start when another process writes one of the files that it opens. */
const START = {
  tries: 10,
  isRetryable: (error: unknown) => /SQLITE_BUSY/.test(String(error)),
  firstPauseMs: 50,
  longestPauseMs: 2_000,
};

type WorkerOptions = Extract<MiniflareOptions, { workers: unknown }>["workers"][number];

export type Workerd = {
  /** Where R2, KV and objects have their files. */
  readonly persistPath: string;
  /** Reached at a socket of its own alone (`dev.unsafeDirectSockets`). */
  readonly worker: WorkerOptions;
  /** What the Worker writes to its console, and what workerd has to say. */
  readonly log: (line: string) => void;
};

/**
 * Miniflare with one Worker, in a workerd that ends with this process, however that ends. Its own port, which has another Worker
 * before ours, is closed: it gives every object of a bucket to every user of the machine (`/cdn-cgi/local/r2/public`), and
 * believes what `MF-Original-URL` says. Throws Miniflare's error when it can't be started.
 */
export function startWorkerd(given: Workerd): Promise<{ readonly miniflare: Miniflare; readonly url: URL }> {
  return withRetry(START, () => start(given));
}

async function start({ persistPath, worker, log }: Workerd): Promise<{ miniflare: Miniflare; url: URL }> {
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
    handleStructuredLogs: ({ message }) => log(message),
    unsafeRuntimeEnv: { AGENT_ENV_CLOSED_SOCKET: "entry" },
    workers: [worker],
  });
  removeItsHandlers();
  try {
    return { miniflare, url: await miniflare.unsafeGetDirectURL() };
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
