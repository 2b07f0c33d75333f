import { realpathSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { shownText } from "../bundle/shown.ts";
import type { EnvProvider } from "../providers/env/provider.ts";
import type { SandboxProvider } from "../providers/sandbox/provider.ts";
import type { StepType } from "../run/steps/step.ts";
import type { BundleType } from "../types/type.ts";
import type { PluginCommand } from "./command.ts";
import type { Contribution, StatusCode } from "./contribution.ts";
import {
  artifactTypeLacks,
  commandLacks,
  envProviderLacks,
  envTypeLacks,
  isArtifactType,
  isCommand,
  isEnvProvider,
  isEnvType,
  isSandboxProvider,
  isStepType,
  type Lacks,
  sandboxProviderLacks,
  stepTypeLacks,
} from "./shapes.ts";

/** What a module adds, by the kind of its contribution. */
export type Loaded =
  | { readonly what: "type"; readonly type: BundleType }
  | { readonly what: "step"; readonly step: StepType }
  | { readonly what: "envProvider"; readonly provider: EnvProvider }
  | { readonly what: "sandboxProvider"; readonly provider: SandboxProvider }
  | { readonly what: "command"; readonly command: PluginCommand };

const LOAD_BUDGET_MS = 30_000;

export type LoadFailure = { readonly code: StatusCode; readonly why: string };

/**
 * The module of a contribution, `<path>` or `<path>#<export>` in its package's folder. What it lacks, or why it can't be
 * loaded, is a value: one that fails is named, and everything else works (5-run §13.3).
 */
export async function loadContribution(
  contribution: Contribution,
  folder: string,
  budgetMs: number = LOAD_BUDGET_MS,
): Promise<Loaded | LoadFailure> {
  const value = await exportOf(contribution, folder, budgetMs);
  if ("code" in value) return value;
  try {
    return loadedAs(contribution, value.found);
  } catch (error) {
    // Members that are computed may throw whatever they like when they are looked at.
    return invalid(contribution, `looking at it throws: ${thrownText(error)}`);
  }
}

async function exportOf(contribution: Contribution, folder: string, budgetMs: number): Promise<{ readonly found: unknown } | LoadFailure> {
  const [path = "", name = "default"] = contribution.path.split("#");
  const file = fileOf(folder, path);
  if (file === null) return failed(contribution, `${path} is no file of the package`);
  let module: Readonly<Record<string, unknown>>;
  try {
    module = await imported(file, budgetMs);
  } catch (error) {
    // Whatever a plugin's own code throws while it is loaded is that plugin's failure, and told as such.
    return failed(contribution, thrownText(error));
  }
  if (name in module) return { found: module[name] };
  return invalid(contribution, name === "default" ? `${path} has no default export` : `${path} exports no ${name}`);
}

/** A module that waits for what never comes would else hold up every command. */
async function imported(file: string, budgetMs: number): Promise<Readonly<Record<string, unknown>>> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it was not done after ${budgetMs / 1000} s`)), budgetMs);
  try {
    return await Promise.race([import(pathToFileURL(file).href), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** What was thrown, in one line; it may be anything. */
function thrownText(thrown: unknown): string {
  return shownText(thrown instanceof Error ? thrown.message : inspect(thrown));
}

function fileOf(folder: string, path: string): string | null {
  const file = inside(folder, path);
  return file !== null && statSync(file).isFile() ? file : null;
}

/** A folder of the package; null for what isn't one, or leads out of it. */
export function folderIn(folder: string, path: string): string | null {
  const found = inside(folder, path);
  return found !== null && statSync(found).isDirectory() ? found : null;
}

/** What a path of the package leads to, its links resolved; null for what isn't there, or leads out. */
function inside(folder: string, path: string): string | null {
  const found = resolve(folder, path);
  if (statSync(found, { throwIfNoEntry: false }) === undefined) return null;
  const real = realpathSync(found);
  return real.startsWith(join(realpathSync(folder), sep)) ? real : null;
}

function loadedAs(contribution: Contribution, value: unknown): Loaded | LoadFailure {
  switch (contribution.kind) {
    case "envTypes":
      return isEnvType(value) ? named(contribution, value.type, { what: "type", type: value }) : lacks(contribution, envTypeLacks(value));
    case "artifactTypes":
      return isArtifactType(value)
        ? named(contribution, value.type, { what: "type", type: value })
        : lacks(contribution, artifactTypeLacks(value));
    case "taskSteps":
      return isStepType(value) ? named(contribution, value.type, { what: "step", step: value }) : lacks(contribution, stepTypeLacks(value));
    case "envProviders":
      return isEnvProvider(value)
        ? named(contribution, value.capabilities.name, { what: "envProvider", provider: value })
        : lacks(contribution, envProviderLacks(value));
    case "sandboxProviders":
      return isSandboxProvider(value)
        ? named(contribution, value.capabilities.name, { what: "sandboxProvider", provider: value })
        : lacks(contribution, sandboxProviderLacks(value));
    case "commands":
      return isCommand(value) ? { what: "command", command: value } : lacks(contribution, commandLacks(value));
    default:
      throw new Error(`${contribution.kind}: has no module to load`);
  }
}

function named(contribution: Contribution, type: string, loaded: Loaded): Loaded | LoadFailure {
  if (type === contribution.name) return loaded;
  return invalid(contribution, `its module says ${JSON.stringify(type)} where the manifest says ${JSON.stringify(contribution.name)}`);
}

function lacks(contribution: Contribution, lacking: Lacks): LoadFailure {
  return invalid(contribution, lacking.join(", "));
}

function failed({ package: owner }: Contribution, reason: string): LoadFailure {
  return { code: "load-failed", why: `the plugin ${JSON.stringify(owner)} has one, and failed to load: ${reason}` };
}

function invalid({ package: owner }: Contribution, reason: string): LoadFailure {
  return { code: "invalid-plugin", why: `the plugin ${JSON.stringify(owner)} has one, which can't be used: ${reason}` };
}
