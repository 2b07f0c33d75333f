import { runCli } from "./cli.ts";
import { interruption } from "./interrupt.ts";

/** The command line as a process: its streams, its signals, its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  endWithReader(process.stdout);
  const err = outputOf(process.stderr);
  const interrupt = interruption(err);
  try {
    process.exitCode = await runCli(argv, {
      out: outputOf(process.stdout),
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

function outputOf(stream: NodeJS.WriteStream) {
  return {
    write: (text: string) => {
      stream.write(text);
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
  };
}
