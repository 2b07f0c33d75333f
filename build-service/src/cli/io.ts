import type { Settings } from "../config/settings.ts";
import type { FoundPlugins, Plugins } from "../plugins/plugins.ts";
import type { Emit } from "../report/events.ts";
import { jsonReporter, type Output, type Reporter, textReporter } from "../report/reporter.ts";

/** What a command line may touch of the process around it. */
export type ProcessIo = {
  readonly out: Output;
  readonly err: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /**
   * Aborted by the first SIGINT, SIGTERM or SIGHUP; its reason is an `Interrupted`. Who reads it takes them over, and has to end soon
   * after one: until then the system ends the process at once.
   */
  readonly signal: AbortSignal;
};

/** What a command gets: also what the configuration says, read before it begins. */
export type Io = ProcessIo & {
  settings(): Settings;
  /** The plugins of the project around `cwd`, by their manifests. */
  plugins(): Promise<FoundPlugins>;
  /** The same, loaded; what can't be loaded has been told as a warning. */
  loadedPlugins(): Promise<Plugins>;
};

/** Options that every command takes. */
export type CommonOptions = { readonly json?: boolean; readonly verbose?: boolean; readonly config?: string };

/** The reader of events that the options ask for. */
export function reporterFor(io: ProcessIo, options: CommonOptions): Reporter {
  return options.json ? jsonReporter(io.out, () => new Date()) : textReporter(io.out, Date.now);
}

/** Progress of a command whose result is one document: lines on standard error, so that `--json` stays one document. */
export function progressFor(io: ProcessIo, options: CommonOptions): Reporter {
  return options.json ? { emit: ignore, close: () => {} } : textReporter(io.err, Date.now);
}

const ignore: Emit = () => {};

/** Prints a command's one document: as JSON with `format_version`, or as text. */
export function printDocument(io: ProcessIo, options: CommonOptions, document: Readonly<Record<string, unknown>>, text: string): void {
  io.out.write(options.json ? `${JSON.stringify({ format_version: 1, ...document }, null, 2)}\n` : text === "" ? "" : `${text}\n`);
}

/** Rows in columns that line up, each line without trailing space. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
