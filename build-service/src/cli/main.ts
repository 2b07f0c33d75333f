import type { Output } from "../report/reporter.ts";
import { runCli } from "./cli.ts";
import { interruption } from "./interrupt.ts";

/**
 * The command line as a process: its streams, its signals, its exit code. Ends the process when all has been written, whatever
 * a plugin has left open.
 */
export async function main(argv: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) endWithReader(stream);
  const out = outputOf(process.stdout);
  const err = outputOf(process.stderr);
  if (argv.includes("--json")) sendStrayOutputToStderr();
  const interrupt = interruption(err);
  let exitCode: number;
  try {
    exitCode = await runCli(argv, {
      out,
      err,
      env: process.env,
      cwd: process.cwd(),
      get signal() {
        return interrupt.signal;
      },
    });
  } finally {
    interrupt.stop();
  }
  await Promise.all([out.written(), err.written()]);
  process.exit(exitCode);
}

/** What a write says once nobody reads any more: of a pipe (`| head`), and of a terminal that was closed. */
const NO_READER = ["EPIPE", "EIO"];

/** Whoever reads our output may stop early: there is nobody left to tell, and that is no failure of ours. */
function endWithReader(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (!NO_READER.includes(error.code ?? "")) throw error;
  });
}

/** With `--json` nothing but our document is on standard output: what a plugin prints, as with `console.log`, is log (5-run §10.5). */
function sendStrayOutputToStderr(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

/** A stream as commands write to it, whatever its `write` is made to do afterwards. `written` resolves when nothing of it waits. */
function outputOf(stream: NodeJS.WriteStream): Output & { written(): Promise<void> } {
  const write = stream.write.bind(stream);
  return {
    write: (text: string) => {
      write(text);
    },
    // Called in order, and also when the reader has gone.
    written: () => new Promise((resolve) => void write("", () => resolve())),
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
  };
}
