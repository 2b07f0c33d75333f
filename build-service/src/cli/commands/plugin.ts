import { problemLine, UserError } from "@agent-env/protocol";
import type { CheckedContribution } from "../../plugins/check-plugins.ts";
import { type Contribution, isInEffect, KIND_WORDS } from "../../plugins/contribution.ts";
import type { PluginPackage } from "../../plugins/packages.ts";
import { afterNotLoading, type FoundPlugins } from "../../plugins/plugins.ts";
import type { AddCommand } from "../cli.ts";
import { type CommonOptions, columns, type Io, printDocument } from "../io.ts";

type LoadOptions = CommonOptions & { readonly load: boolean };

/** What plugins add, and whether it is in effect. None of these opens a store or asks Docker. */
export const pluginCommand: AddCommand = (parent, io, end) => {
  const plugin = parent.command("plugin").description("packages that add types, steps, providers, commands and bundles");

  plugin
    .command("list")
    .description("the plugins of this project, and what of them is in effect")
    .option("--no-load", "read their package.json only")
    .action(async (options: LoadOptions) => {
      const found = await read(options, io);
      const rows = found.packages.map((one) => [one.name, one.manifest?.version ?? "", one.by, effectOf(one, found)]);
      const text = rows.length === 0 ? "no plugin is among this project's dependencies or in [plugins] packages" : columns(rows);
      printDocument(io, options, { plugins: found.packages.map((one) => documentOf(one, found)) }, text);
    });

  plugin
    .command("show")
    .description("what one plugin adds, each with its status")
    .argument("<package>", "its name")
    .option("--no-load", "read its package.json only")
    .action(async (name: string, options: LoadOptions) => {
      const found = await read(options, io);
      const one = named(name, found);
      const rows = contributionsOf(one, found).map(row);
      const lines = [`${one.name} ${one.manifest?.version ?? ""}: ${one.folder ?? "not installed"} (${one.by})`, ...problemOf(one)];
      printDocument(io, options, documentOf(one, found), [...lines, ...(rows.length === 0 ? [] : [columns(rows)])].join("\n"));
    });

  plugin
    .command("check")
    .description("load plugins, check their types and bundles; exit code 1 unless all of it is in effect")
    .argument("[package...]", "their names; all where none is given")
    .option("--no-load", "read their package.json only")
    .action(async (names: string[], options: LoadOptions) => {
      const found = await read(options, io);
      const packages = names.length === 0 ? found.packages : names.map((name) => named(name, found));
      const of = packages.flatMap((one) => contributionsOf(one, found));
      const checked = options.load ? await checkedOf(of, io) : of.map((one) => ({ ...one, findings: [], problems: [] }));
      const lines = [...packages.flatMap(problemOf), ...checked.flatMap(linesOf)];
      const isFine = packages.every(({ problem }) => problem === null) && checked.every((one) => isFineOf(one, options));
      const plugins = packages.map((one) => ({
        ...documentOf(one, found),
        contributions: checked.filter((contribution) => contribution.package === one.name),
      }));
      printDocument(io, options, { plugins, ok: isFine }, [...lines, summary(packages, isFine)].join("\n"));
      end(isFine ? 0 : 1);
    });
};

async function read({ load }: LoadOptions, io: Io): Promise<FoundPlugins> {
  return load ? io.loadedPlugins() : afterNotLoading(await io.plugins());
}

async function checkedOf(contributions: readonly Contribution[], io: Io): Promise<CheckedContribution[]> {
  const { checkContributions } = await import("../../plugins/check-plugins.ts");
  return checkContributions(await io.loadedPlugins(), contributions);
}

function named(name: string, { packages }: FoundPlugins): PluginPackage {
  const one = packages.find((candidate) => candidate.name === name);
  if (one !== undefined) return one;
  throw new UserError({
    what: `${name}: no such plugin`,
    why: packages.length === 0 ? "this project has none" : `this project's are ${packages.map((candidate) => candidate.name).join(", ")}`,
    next: "add it to the project's dependencies, or to [plugins] packages",
  });
}

function contributionsOf({ name }: PluginPackage, { contributions }: FoundPlugins): Contribution[] {
  return contributions.filter((one) => one.package === name);
}

function documentOf(one: PluginPackage, found: FoundPlugins): Record<string, unknown> {
  const { name, by, folder, manifest, problem } = one;
  return { package: name, version: manifest?.version ?? null, by, folder, problem, contributions: contributionsOf(one, found) };
}

function problemOf({ name, problem }: PluginPackage): string[] {
  return problem === null ? [] : [`${name}: ${problem}`];
}

function row({ kind, name, status, code, why }: Contribution): string[] {
  return [KIND_WORDS[kind], name, code === null ? status : `${status} (${code})`, why ?? ""];
}

function effectOf(one: PluginPackage, found: FoundPlugins): string {
  if (one.problem !== null) return one.problem;
  const of = contributionsOf(one, found);
  const lost = of.filter((contribution) => !isInEffect(contribution) && contribution.status !== "unloaded");
  const all = `adds ${of.map(({ kind, name }) => `${KIND_WORDS[kind]} ${name}`).join(", ") || "nothing"}`;
  return lost.length === 0 ? all : `${all}; not in effect: ${lost.map(({ name, code }) => `${name} (${code})`).join(", ")}`;
}

function isFineOf(one: CheckedContribution, { load }: LoadOptions): boolean {
  return (isInEffect(one) || (!load && one.status === "unloaded")) && one.findings.length === 0 && one.problems.length === 0;
}

function linesOf({ package: owner, kind, name, code, why, findings, problems }: CheckedContribution): string[] {
  const at = `${owner}: ${KIND_WORDS[kind]} ${name}`;
  return [
    ...(code === null || code === "not-loaded" ? [] : [`${at}: ${code}: ${why}`]),
    ...findings.map((finding) => `${at}: ${finding}`),
    ...problems.map((problem) => `${at}: ${problemLine(problem)}`),
  ];
}

function summary(packages: readonly PluginPackage[], isFine: boolean): string {
  if (packages.length === 0) return "no plugin to check";
  return isFine ? `${packages.map(({ name }) => name).join(", ")}: all of it is in effect` : "not all of it is in effect";
}
