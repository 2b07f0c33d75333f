import { readFileSync } from "node:fs";
import { Command } from "commander";
import { z } from "zod";
import { bundleCommand } from "./commands/bundle.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { envCommand } from "./commands/env.ts";
import { gatewayCommand } from "./commands/gateway.ts";
import { gcCommand } from "./commands/gc.ts";
import { runCommand } from "./commands/run.ts";
import { reportFailure } from "./failure.ts";
import type { CommonOptions, Io } from "./io.ts";

/** A command: its words and options, and what it does. `end` takes the exit code. */
export type AddCommand = (parent: Command, io: Io, end: (exitCode: number) => void) => void;

const COMMANDS: readonly AddCommand[] = [runCommand, bundleCommand, envCommand, gatewayCommand, doctorCommand, gcCommand];

/** Runs one command line. Gives the exit code; every failure has been said by then. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  let exitCode = 0;
  const program = new Command("agent-env")
    .description("Turns a folder of MCP servers and websites into running environments for AI agents.")
    .version(version(), "-V, --version", "print the version")
    .showHelpAfterError("(agent-env --help lists the commands and options)");
  for (const add of COMMANDS) {
    add(program, io, (code) => {
      exitCode = code;
    });
  }
  prepare(program, io);
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    return reportFailure(error, io, commonOptions(argv));
  }
}

/** Every command takes the common options, writes to our streams, and throws instead of ending the process. */
function prepare(command: Command, io: Io): void {
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => io.out.write(text),
    writeErr: (text) => io.err.write(text),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
  if (command.commands.length === 0) {
    command
      .option("--json", "print JSON, for programs")
      .option("--verbose", "show the cause and stack of an error")
      .option("--no-color", "print without colours");
  }
  for (const child of command.commands) {
    child.showHelpAfterError(`(agent-env ${child.name()} --help lists its options)`);
    prepare(child, io);
  }
}

/** Read from the words themselves: an error may come before they are parsed. */
function commonOptions(argv: readonly string[]): CommonOptions {
  const options = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  return { json: options.includes("--json"), verbose: options.includes("--verbose") };
}

function version(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}
