import { runCli } from "./cli.ts";
import { interruption } from "./interrupt.ts";

/** The command line as a process: its streams, its signals, its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  endWithReader(process.stdout);
  const out = outputOf(process.stdout);
  const err = outputOf(process.stderr);
  if (argv.includes("--json")) sendStrayOutputToStderr();
  const interrupt = interruption(err);
  try {
    process.exitCode = await runCli(argv, {
      out,
      err,
      env: process.env,
      cwd: process.cwd(),
      signal: interrupt.signal,
    });
  } finally {
    interrupt.stop();
  }
}

/** Whoever reads our output may stop early (`| head`): there is nobody left to tell, and that is no failure of ours. */
function endWithReader(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

/** With `--json` nothing but our document is on standard output: what a plugin prints, as with `console.log`, is log (5-run §10.5). */
function sendStrayOutputToStderr(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

/** A stream as commands write to it, whatever its `write` is made to do afterwards. */
function outputOf(stream: NodeJS.WriteStream) {
  const write = stream.write.bind(stream);
  return {
    write: (text: string) => {
      write(text);
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
  };
}
