import { UserError } from "@agent-env/protocol";
import type { Command } from "commander";
import { type Explained, explainedAll, explainedKey } from "../../config/explain.ts";
import { findConfigFile } from "../../config/find-file.ts";
import { readSettings, type Settings } from "../../config/settings.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import type { AddCommand } from "../cli.ts";
import { type CommonOptions, columns, type Io, printDocument } from "../io.ts";

/** What the configuration says, and why. Secrets are never shown. */
export const configCommand: AddCommand = (parent, io, end) => {
  const config = parent.command("config").description("what the configuration says, and where each value comes from");

  config
    .command("show")
    .description("the value of every key")
    .action((options: CommonOptions) => {
      const settings = io.settings();
      const keys = explainedAll(settings);
      const file = settings.file?.path ?? null;
      const rows = keys.map(({ key, value, from }) => [key, shownValue(value), from === "nothing" ? "" : from]);
      printDocument(io, options, { file, keys: keys.map(({ key, value, from }) => ({ key, value: value ?? null, from })) }, columns(rows));
    });

  config
    .command("explain")
    .description("what a key is for, its value, and where that comes from; without a key, all of them")
    .argument("[key]", "build.concurrency")
    .action((key: string | undefined, options: CommonOptions) => {
      const settings = io.settings();
      if (key === undefined) {
        const keys = explainedAll(settings);
        printDocument(io, options, { keys: keys.map(document) }, columns(keys.map((one) => [one.key, one.about])));
      } else {
        const one = explainedKey(key, settings);
        printDocument(io, options, document(one), explanation(one, settings));
      }
    });

  addSources(config, io);
  addDebug(config, io, end);
};

function addSources(config: Command, io: Io): void {
  config
    .command("sources")
    .description("what values come from, the strongest first, with the keys that each sets")
    .action((options: CommonOptions) => {
      const settings = io.settings();
      const keys = explainedAll(settings);
      const of = (from: Explained["from"]) => keys.filter((key) => key.from === from).map(({ key }) => key);
      const file = settings.file?.path ?? null;
      const variables = keys.filter(({ from }) => from === "environment").map(({ key, variable }) => ({ variable, key }));
      const text = columns([
        ["options", "of the command itself"],
        ["environment", variables.map(({ variable, key }) => `${variable} (${key})`).join(", ") || "sets nothing"],
        ["file", file === null ? "none" : `${file}, named by ${settings.file?.by}: ${of("file").join(", ") || "sets nothing"}`],
        ["default", of("default").join(", ")],
      ]);
      printDocument(io, options, { environment: variables, file: { path: file, keys: of("file") }, default: of("default") }, text);
    });
}

function addDebug(config: Command, io: Io, end: (exitCode: number) => void): void {
  config
    .command("debug")
    .description("how the configuration is found and read, and what is wrong with it")
    .action((options: CommonOptions) => {
      const place = { cwd: io.cwd, env: io.env, option: options.config ?? null };
      const problems: string[] = [];
      const file = attempt(() => findConfigFile(place), problems);
      const settings = problems.length > 0 ? null : attempt(() => readSettings(place), problems);
      if (settings !== null) problems.push(...sectionProblems(settings));
      const variables = [...new Set(["AGENT_ENV_CONFIG", ...explainedAllVariables(settings)])];
      const rows = [
        ["--config", options.config ?? "not given"],
        ...variables.map((name) => [name, io.env[name] ? "set" : "not set"]),
        ["file", file === null ? `none in ${io.cwd} or above it` : `${file.path} (by ${file.by})`],
        ["state folder", stateDirOf(io.env)],
        ...problems.map((problem) => ["problem", problem]),
      ];
      const set = Object.fromEntries(variables.map((name) => [name, Boolean(io.env[name])]));
      printDocument(io, options, { file, state_dir: stateDirOf(io.env), variables: set, problems }, columns(rows));
      end(problems.length > 0 ? 2 : 0);
    });
}

function explainedAllVariables(settings: Settings | null): string[] {
  return settings === null ? [] : explainedAll(settings).flatMap(({ variable }) => (variable === null ? [] : [variable]));
}

/** What each section says when it is used: references that have no value. */
function sectionProblems(settings: Settings): string[] {
  const { stores, sandbox, envs, agents, model, build, run, verifiers, gateway, explorer, plugins } = settings;
  const problems: string[] = [];
  const sections: readonly (() => unknown)[] = [stores, sandbox, envs, agents, model, build, run, verifiers, gateway, explorer, plugins];
  for (const section of sections) attempt(section, problems);
  return problems;
}

function attempt<T>(read: () => T, problems: string[]): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    problems.push(`${error.message}: ${error.why}`);
    return null;
  }
}

function document(one: Explained): Record<string, unknown> {
  return { ...one, value: one.value ?? null };
}

const FROM: Readonly<Record<Explained["from"], string>> = {
  environment: "the environment variable",
  file: "the file",
  default: "the default",
  nothing: "nothing sets it",
};

function explanation(one: Explained, settings: Settings): string {
  const from = { ...FROM, environment: `${FROM.environment} ${one.variable}`, file: `${settings.file?.path}` }[one.from];
  const rows = [
    ["value", one.from === "nothing" ? "none" : shownValue(one.value)],
    ["from", from],
    ["default", one.default === null ? "none" : shownValue(one.default)],
    ["variable", one.variable ?? "none"],
    ["read by", one.read_by ?? "nothing yet: the value is checked and has no effect"],
  ];
  return `${one.key}: ${one.about}\n${columns(rows)}`;
}

function shownValue(value: unknown): string {
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
