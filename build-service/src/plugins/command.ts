/** What a plugin's command gets of the process around it. */
export type PluginCommandContext = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. A command that never reads it is ended by them at once. */
  readonly signal: AbortSignal;
  /** The plugin's own table, `[plugins."<package>"]`. */
  readonly settings: Readonly<Record<string, unknown>>;
  print(text: string): void;
};

/** A plugin's command: `agent-env <name> …`. Gives the exit code; an error that it throws ends it as one of its own. */
export type PluginCommand = (context: PluginCommandContext) => number | Promise<number>;
