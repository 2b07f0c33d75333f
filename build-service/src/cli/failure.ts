import { problemLine, Refused, UserError } from "@agent-env/protocol";
import { CommanderError } from "commander";
import { printable, setIn } from "../report/printable.ts";
import { systemError } from "../report/system-error.ts";
import { Interrupted } from "../run/interrupted.ts";
import type { CommonOptions, ProcessIo } from "./io.ts";

/** Says why a command ended, and gives the exit code (9-style §5). A stack is shown for a bug, and with `--verbose`. */
export function reportFailure(thrown: unknown, io: ProcessIo, options: CommonOptions): number {
  const error = io.signal.aborted ? io.signal.reason : (systemError(thrown) ?? thrown);
  if (error instanceof CommanderError && (error.exitCode === 0 || !options.json)) return error.exitCode === 0 ? 0 : 2;
  const { document, text, exitCode } = described(error);
  if (options.json) io.out.write(`${JSON.stringify({ format_version: 1, ...document, exit_code: exitCode }, null, 2)}\n`);
  else io.err.write(text);
  if (options.verbose && error instanceof Error && !isBug(error)) io.err.write(`${stackOf(error)}\n`);
  return exitCode;
}

/** The last line of `run --json` when there is no result: why it ended, and with which exit code. */
export function failureLine(thrown: unknown, io: ProcessIo): { readonly line: string; readonly exitCode: number } {
  const { document, exitCode } = described(io.signal.aborted ? io.signal.reason : (systemError(thrown) ?? thrown));
  const at = new Date().toISOString();
  return { line: `${JSON.stringify({ at, kind: "result", format_version: 1, exit_code: exitCode, ...document })}\n`, exitCode };
}

type Description = { readonly document: Readonly<Record<string, unknown>>; readonly text: string; readonly exitCode: number };

function described(error: unknown): Description {
  if (error instanceof Refused) {
    const lines = error.problems.map(problemLine);
    const count = `${lines.length} ${lines.length === 1 ? "problem" : "problems"}; nothing was built, written or started`;
    return { document: { problems: error.problems }, text: `${[...lines, count].join("\n")}\n`, exitCode: 1 };
  }
  if (error instanceof UserError) {
    const { message, why, next, exitCode } = error;
    return { document: { error: { what: message, why, next } }, text: userErrorText(error), exitCode };
  }
  if (error instanceof CommanderError) {
    return {
      document: { error: { what: error.message, why: "the command line can't be read", next: "agent-env --help" } },
      text: "",
      exitCode: 2,
    };
  }
  if (error instanceof Interrupted)
    return { document: { error: { what: error.message } }, text: `${error.message}\n`, exitCode: error.exitCode };
  const stack = stackOf(error);
  return {
    document: { bug: { message: String(error), stack } },
    text: `This is a bug of agent-env, not a mistake of yours.\n${stack}\n  Next: report it, with the lines above, to whoever this package came from\n`,
    exitCode: 1,
  };
}

/** What, why and the next step, a line each. */
function userErrorText(error: UserError): string {
  return `${printable(error.message)}\n  ${setIn(error.why, "  ")}\n  Next: ${printable(error.next)}\n`;
}

const isBug = (error: Error): boolean => !(error instanceof UserError || error instanceof Refused || error instanceof Interrupted);

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return error.cause === undefined ? stack : `${stack}\nCaused by: ${stackOf(error.cause)}`;
}
