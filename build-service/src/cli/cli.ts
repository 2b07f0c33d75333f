import { UserError } from "@agent-env/protocol";
import { Command } from "commander";
import { readSettings, type Settings } from "../config/settings.ts";
import type { FoundPlugins, Plugins } from "../plugins/plugins.ts";
import { agentEnvVersion } from "../report/version.ts";
import { reportFailure } from "./failure.ts";
import type { CommonOptions, Io, ProcessIo } from "./io.ts";

/** A command: its words and options, and what it does. `end` takes the exit code. */
export type AddCommand = (parent: Command, io: Io, end: (exitCode: number) => void) => void;

/** Loaded only when it is named, or when all are listed: each brings the libraries that it works with. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  run: async () => (await import("./commands/run.ts")).runCommand,
  bundle: async () => (await import("./commands/bundle.ts")).bundleCommand,
  init: async () => (await import("./commands/init.ts")).initCommand,
  env: async () => (await import("./commands/env.ts")).envCommand,
  artifact: async () => (await import("./commands/artifact.ts")).artifactCommand,
  image: async () => (await import("./commands/image.ts")).imageCommand,
  "a2a-agent": async () => (await import("./commands/a2a-agent.ts")).a2aAgentCommand,
  task: async () => (await import("./commands/task.ts")).taskCommand,
  eval: async () => (await import("./commands/eval.ts")).evalCommand,
  gateway: async () => (await import("./commands/gateway.ts")).gatewayCommand,
  plugin: async () => (await import("./commands/plugin.ts")).pluginCommand,
  config: async () => (await import("./commands/config.ts")).configCommand,
  store: async () => (await import("./commands/store.ts")).storeCommand,
  "check-site": async () => (await import("./commands/check-site.ts")).checkSiteCommand,
  conformance: async () => (await import("./commands/conformance.ts")).conformanceCommand,
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand,
  gc: async () => (await import("./commands/gc.ts")).gcCommand,
};

/** Runs one command line. Gives the exit code; every failure has been said by then. */
export async function runCli(argv: readonly string[], processIo: ProcessIo): Promise<number> {
  let exitCode = 0;
  const { io, useConfig } = commandIo(processIo);
  const ofPlugin = await pluginCommandNamed(argv, io);
  if (ofPlugin !== null) return ofPlugin;
  const program = new Command("agent-env")
    .description("Turns a folder of MCP servers and websites into running environments for AI agents.")
    .version(agentEnvVersion(), "-V, --version", "print the version")
    .enablePositionalOptions()
    .showHelpAfterError("(agent-env --help lists the commands and options)");
  if (asksForHelp(argv)) program.addHelpText("after", await helpOnPlugins(io));
  for (const load of commandsFor(argv)) {
    const add = await load();
    add(program, io, (code) => {
      exitCode = code;
    });
  }
  prepare(program, io);
  program.hook("preAction", (_program, command) => {
    useConfig(command.opts<CommonOptions>().config ?? null);
    // What reads a file that can't be read, to say why.
    if (command.name() !== "debug" || command.parent?.name() !== "config") io.settings();
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    return reportFailure(error, io, commonOptions(argv));
  }
}

/** What commands get: each part is made when it is first asked for, and once. */
function commandIo(processIo: ProcessIo): { readonly io: Io; useConfig(file: string | null): void } {
  let config: string | null = null;
  let settings: Settings | null = null;
  let found: Promise<FoundPlugins> | null = null;
  let loaded: Promise<Plugins> | null = null;
  const io: Io = {
    out: processIo.out,
    err: processIo.err,
    env: processIo.env,
    cwd: processIo.cwd,
    get signal() {
      return processIo.signal;
    },
    settings() {
      settings ??= settingsFor(processIo, config);
      return settings;
    },
    plugins() {
      found ??= import("../plugins/plugins.ts").then(({ findPlugins }) =>
        findPlugins({ cwd: processIo.cwd, settings: io.settings(), commands: Object.keys(COMMANDS) }),
      );
      return found;
    },
    loadedPlugins() {
      loaded ??= import("../plugins/plugins.ts").then(async ({ loadPlugins, pluginWarnings }) => {
        const plugins = await loadPlugins(await io.plugins(), io.settings().sandbox().presets);
        for (const warning of pluginWarnings(plugins)) processIo.err.write(`warning: ${warning}\n`);
        return plugins;
      });
      return loaded;
    },
  };
  return {
    io,
    useConfig(file) {
      config = file;
    },
  };
}

function asksForHelp([name]: readonly string[]): boolean {
  return name === undefined || ["-h", "--help", "help"].includes(name);
}

/** What stands below the help: the commands of plugins, by their manifests; or why they can't be listed. */
async function helpOnPlugins(io: Io): Promise<string> {
  try {
    const { pluginCommandLines } = await import("./plugin-commands.ts");
    const lines = pluginCommandLines(await io.plugins());
    return lines.length === 0 ? "" : ["", "Commands of plugins:", ...lines.map((line) => `  ${line}`)].join("\n");
  } catch (error) {
    if (error instanceof UserError) return `\nCommands of plugins can't be listed: ${error.message}`;
    throw error;
  }
}

/** Runs a plugin's command; null where the first word names none, or one of ours. */
async function pluginCommandNamed(argv: readonly string[], io: Io): Promise<number | null> {
  const [name, ...rest] = argv;
  if (name === undefined || name.startsWith("-") || name === "help" || Object.hasOwn(COMMANDS, name)) return null;
  try {
    const { runPluginCommand } = await import("./plugin-commands.ts");
    return await runPluginCommand({ name, argv: rest, io, found: await io.plugins() });
  } catch (error) {
    return reportFailure(error, io, commonOptions(argv));
  }
}

/** The configuration, and in a line each what of it says nothing here. */
function settingsFor({ cwd, env, err }: ProcessIo, option: string | null): Settings {
  const settings = readSettings({ cwd, env, option });
  for (const warning of settings.warnings) err.write(`warning: ${warning}\n`);
  return settings;
}

function commandsFor(argv: readonly string[]): (() => Promise<AddCommand>)[] {
  const [name = ""] = argv;
  const named = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return named === undefined ? Object.values(COMMANDS) : [named];
}

/** Every command takes the common options, writes to our streams, and throws instead of ending the process. */
function prepare(command: Command, io: ProcessIo, words = "agent-env"): void {
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
      .option("--config <file>", "the configuration (AGENT_ENV_CONFIG, or the nearest .agentenv/config.toml)");
  }
  for (const child of command.commands) {
    child.showHelpAfterError(`(${words} ${child.name()} --help lists its options)`);
    prepare(child, io, `${words} ${child.name()}`);
  }
}

/** Read from the words themselves: an error may come before they are parsed. */
function commonOptions(argv: readonly string[]): CommonOptions {
  const options = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  return { json: options.includes("--json"), verbose: options.includes("--verbose") };
}
