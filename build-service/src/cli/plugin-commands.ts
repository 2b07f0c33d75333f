import { inspect } from "node:util";
import { Refused, UserError } from "@agent-env/protocol";
import { loadContribution } from "../plugins/load.ts";
import type { FoundPlugins } from "../plugins/plugins.ts";
import type { Io } from "./io.ts";

/** The commands that plugins add, a line each, for the help of the command line; empty where there are none. */
export function pluginCommandLines({ contributions }: Pick<FoundPlugins, "contributions">): string[] {
  const commands = contributions.filter(({ kind, status }) => kind === "commands" && status === "active");
  const width = Math.max(0, ...commands.map(({ name }) => name.length));
  return commands.map(({ name, package: owner }) => `${name.padEnd(width)}  of the plugin ${owner}`);
}

/** Runs the command of that name that a plugin adds and gives its exit code; null where none does. */
export async function runPluginCommand(call: {
  readonly name: string;
  readonly argv: readonly string[];
  readonly io: Io;
  readonly found: FoundPlugins;
}): Promise<number | null> {
  const { name, argv, io, found } = call;
  const claims = found.contributions.filter((one) => one.kind === "commands" && one.name === name && one.status !== "replaced");
  const [claim] = claims;
  if (claim === undefined) return null;
  const refused = (why: string) =>
    new UserError({ what: `${name}: the command can't be used`, why, next: "agent-env plugin check", exitCode: 2 });
  const folder = found.packages.find((one) => one.name === claim.package)?.folder ?? null;
  if (claim.status !== "active" || folder === null) throw refused(claim.why ?? "its package isn't installed");
  const loaded = await loadContribution(claim, folder);
  if ("code" in loaded) throw refused(loaded.why);
  if (loaded.what !== "command") throw new Error(`${name}: loaded as a ${loaded.what}`);
  const settings = io.settings().plugins().own(claim.package);
  const print = (text: string) => io.out.write(`${text}\n`);
  try {
    return await loaded.command({
      argv,
      cwd: io.cwd,
      env: io.env,
      settings,
      print,
      // A command that never reads it is ended at once.
      get signal() {
        return io.signal;
      },
    });
  } catch (error) {
    if (error instanceof UserError || error instanceof Refused) throw error;
    throw new UserError(
      {
        what: `${name}: the command failed`,
        why: `the plugin ${JSON.stringify(claim.package)} has it, and it threw: ${error instanceof Error ? error.message : inspect(error)}`,
        next: "run it with --verbose for the stack, and report it to whoever that plugin comes from",
      },
      { cause: error },
    );
  }
}
