import type { EnvProvider } from "../providers/env/provider.ts";
import type { SandboxProvider } from "../providers/sandbox/provider.ts";
import type { StepType } from "../run/steps/step.ts";
import type { ArtifactType, EnvType } from "../types/type.ts";
import type { PluginCommand } from "./command.ts";

/** What a contribution's module lacks, each a clause; empty for one that has all. */
export type Lacks = readonly string[];

const isFunction = (value: unknown): boolean => typeof value === "function";
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;
const KEY_KINDS = ["string", "number", "boolean", "list", "table", "ref"];

type Member = { readonly name: string; readonly what: string; is(value: unknown): boolean };

const functions = (...names: string[]): Member[] => names.map((name) => ({ name, what: "a function", is: isFunction }));
const IS_TYPE: Member = { name: "type", what: "a text", is: isText };

const BUNDLE_TYPE: readonly Member[] = [
  IS_TYPE,
  {
    name: "tomlKeys",
    what: `a table of ${KEY_KINDS.join(", ")}`,
    is: (value) => isObject(value) && Object.values(value).every((kind) => KEY_KINDS.some((known) => known === kind)),
  },
  {
    name: "tomlRefs",
    what: "a list of { path, kind }",
    is: (value) => Array.isArray(value) && value.every((ref) => isObject(ref) && isText(ref["path"]) && isText(ref["kind"])),
  },
  ...functions("accept", "read"),
];
const KIND = (kind: string): Member => ({ name: "kind", what: JSON.stringify(kind), is: (value) => value === kind });
const TOPOLOGY: Member = {
  name: "topology",
  what: '{ server: "mcp" or "website" } or { lists: … }',
  is: (value) => isObject(value) && (value["server"] === "mcp" || value["server"] === "website" || isObject(value["lists"])),
};
const STEP: readonly Member[] = [
  IS_TYPE,
  { name: "entityRefs", what: "a list, or null", is: (value) => value === null || Array.isArray(value) },
  { name: "failsTask", what: "true or false", is: (value) => typeof value === "boolean" },
  ...functions("problems", "unknownFields", "idleFields", "notRunYet", "writeOut", "run"),
];
const GATEWAYS = ["container", "edge"];
const isListOf = (value: unknown, known: readonly string[]): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => known.some((name) => name === one));

const SANDBOX: readonly Member[] = [
  {
    name: "capabilities",
    what: "{ name, runs, image, websites, gateways, longestTtlSeconds, isolates, limits }",
    is: (value) =>
      isObject(value) &&
      ["name", "runs", "isolates"].every((key) => isText(value[key])) &&
      (value["image"] === "build" || value["image"] === "source") &&
      isListOf(value["gateways"], GATEWAYS) &&
      Number.isSafeInteger(value["longestTtlSeconds"]) &&
      ["websites", "limits"].every((key) => typeof value[key] === "boolean"),
  },
  ...functions("unavailable", "imageProblems", "open", "labelled", "remove"),
  { name: "configured", what: "a function", is: (value) => value === undefined || isFunction(value) },
];
const PROVIDER: readonly Member[] = [
  {
    name: "capabilities",
    what: "{ name, types, reservesNames, oneCard, refusesOptions }",
    is: (value) =>
      isObject(value) &&
      isText(value["name"]) &&
      Array.isArray(value["types"]) &&
      typeof value["reservesNames"] === "boolean" &&
      typeof value["oneCard"] === "boolean" &&
      Array.isArray(value["refusesOptions"]),
  },
  ...functions("startsGateway", "require", "services", "variables", "withServers", "ready"),
];

/** How a type is written: by `write`, or by `writeFolder` where it says `writes: "folder"`. */
function writeMembers(value: unknown): Member[] {
  if (isObject(value) && value["writes"] === "folder") return functions("writeFolder", "childSuffixes");
  return [{ name: "writes", what: '"record" or "folder"', is: (writes) => writes === "record" }, ...functions("write")];
}

function lacking(value: unknown, members: readonly Member[]): string[] {
  if (!isObject(value)) return ["it is no object"];
  return members.filter(({ name, is }) => !is(value[name])).map(({ name, what }) => `its ${name} isn't ${what}`);
}

export const envTypeLacks = (value: unknown): Lacks => lacking(value, [KIND("env"), ...BUNDLE_TYPE, TOPOLOGY, ...writeMembers(value)]);
export const artifactTypeLacks = (value: unknown): Lacks => lacking(value, [KIND("artifact"), ...BUNDLE_TYPE, ...writeMembers(value)]);
export const stepTypeLacks = (value: unknown): Lacks => lacking(value, STEP);
export const envProviderLacks = (value: unknown): Lacks => lacking(value, PROVIDER);
export const sandboxProviderLacks = (value: unknown): Lacks => lacking(value, SANDBOX);
export const commandLacks = (value: unknown): Lacks => (isFunction(value) ? [] : ["it is no function"]);

export const isEnvType = (value: unknown): value is EnvType => envTypeLacks(value).length === 0;
export const isArtifactType = (value: unknown): value is ArtifactType => artifactTypeLacks(value).length === 0;
export const isStepType = (value: unknown): value is StepType => stepTypeLacks(value).length === 0;
export const isEnvProvider = (value: unknown): value is EnvProvider => envProviderLacks(value).length === 0;
export const isSandboxProvider = (value: unknown): value is SandboxProvider => sandboxProviderLacks(value).length === 0;
export const isCommand = (value: unknown): value is PluginCommand => commandLacks(value).length === 0;
