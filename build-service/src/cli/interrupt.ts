import type { Output } from "../report/reporter.ts";

type Signal = "SIGINT" | "SIGTERM";
const EXIT_CODES: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** Why a command was asked to stop. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: Signal) {
    super(`interrupted by ${signal}`);
    this.name = "Interrupted";
    this.exitCode = EXIT_CODES[signal];
  }
}

/**
 * Turns the first SIGINT or SIGTERM into an abort, so that the command takes down what it started; a second one ends the
 * process at once and says how to clean up (5-run §11.1). `stop` takes the handlers away again.
 */
export function interruption(err: Output): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const handlers = (["SIGINT", "SIGTERM"] as const).map((name) => {
    const handler = () => {
      if (controller.signal.aborted) {
        err.write(`${name} again: taking down stops here\n  What is still up: agent-env gc --dry-run\n  Remove it: agent-env gc\n`);
        process.exit(EXIT_CODES[name]);
      }
      err.write(`${name}: taking down what was started (again to stop at once)\n`);
      controller.abort(new Interrupted(name));
    };
    process.on(name, handler);
    return { name, handler };
  });
  return {
    signal: controller.signal,
    stop() {
      for (const { name, handler } of handlers) process.off(name, handler);
    },
  };
}
