import type { Emit, StageEvent } from "./events.ts";
import { lineOf, progressOf } from "./lines.ts";
import { printable, setIn } from "./printable.ts";

/** Reads the stream of events and shows it. `close` leaves the terminal as a shell expects it. */
export type Reporter = { readonly emit: Emit; close(): void };

export type Output = { write(text: string): void; readonly isTTY: boolean; readonly columns: number };

const CLEAR_LINE = "\r\u001b[2K";
const REDRAW_MS = 100;

/** Lines for a log; on a terminal also one line at the end that says what is going on and for how long. */
export function textReporter(output: Output, now: () => number): Reporter {
  if (!output.isTTY) {
    return {
      emit: (event) => {
        const line = lineOf(event);
        if (line !== null) output.write(`${setIn(line, "  ")}\n`);
      },
      close: () => {},
    };
  }
  let progress: { text: string; since: number } | null = null;
  const draw = () => {
    if (progress === null) return;
    const seconds = Math.floor((now() - progress.since) / 1000);
    output.write(`${CLEAR_LINE}${`${seconds > 0 ? `${seconds} s  ` : ""}${progress.text}`.slice(0, output.columns - 1)}`);
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  return {
    emit: (event) => {
      const line = lineOf(event);
      if (line !== null) output.write(`${CLEAR_LINE}${setIn(line, "  ")}\n`);
      const text = progressOf(event);
      if (text !== null && text !== progress?.text) progress = { text: printable(text).replaceAll("\n", " "), since: now() };
      draw();
    },
    close: () => {
      clearInterval(timer);
      output.write(CLEAR_LINE);
    },
  };
}

/** One JSON object a line, each with the time it happened. */
export function jsonReporter(output: Output, now: () => Date): Reporter {
  return { emit: (event: StageEvent) => output.write(`${JSON.stringify({ at: now().toISOString(), ...event })}\n`), close: () => {} };
}
