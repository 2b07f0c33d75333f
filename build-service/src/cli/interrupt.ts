import type { Output } from "../report/reporter.ts";
import { Interrupted, type StopSignal } from "../run/interrupted.ts";

/**
 * Turns the first SIGINT, SIGTERM or SIGHUP (the terminal is closed) into an abort, so that the command takes down what it
 * started; a second one ends the process at once and says how to clean up (5-run §11.1). That begins when `signal` is first
 * read: a command that has nothing to take down never does, and the system ends it at once, even in the midst of long
 * synchronous work. `stop` takes the handlers away again.
 */
export function interruption(err: Output): { readonly signal: AbortSignal; stop(): void } {
  let started: ReturnType<typeof handling> | null = null;
  return {
    get signal() {
      started ??= handling(err);
      return started.signal;
    },
    stop() {
      started?.stop();
    },
  };
}

function handling(err: Output): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const names: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  const handlers = names.map((name) => {
    const handler = () => {
      if (controller.signal.aborted) {
        err.write(`${name} again: stopping at once\n  What is still up: agent-env gc --dry-run\n  Remove it: agent-env gc\n`);
        process.exit(new Interrupted(name).exitCode);
      }
      err.write(`${name}: ending what was begun (again to stop at once)\n`);
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
