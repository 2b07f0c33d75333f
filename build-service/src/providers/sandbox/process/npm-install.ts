import { jsonOf } from "@agent-env/protocol";
import { z } from "zod";
import type { Machine } from "./machine.ts";

const Dependencies = z.record(z.string(), z.string()).default({});
const PackageJson = z.object({ dependencies: Dependencies, devDependencies: Dependencies, scripts: Dependencies });

const INSTALL = /^npm (?:ci|install|i)((?: --?[a-z][\w-]*(?:=\S+)?)*)$/;
/** Scripts of a package that `npm ci` and `npm install` run in it. */
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "prepare"];

export type SkippedInstall = { readonly packages: readonly { readonly name: string; readonly folder: string }[] };

/** Whether a `RUN` does nothing but install what a package.json names. */
export function isNpmInstall(command: string): boolean {
  return INSTALL.test(command.replace(/\s+/g, " "));
}

/**
 * What stands in for an `npm ci` or `npm install`: the packages of agent-env's own installation, if all that the
 * package.json asks for are there in a version that fits; else why not.
 */
export function skipInstall(command: string, packageJson: string, machine: Machine): SkippedInstall | { readonly reason: string } {
  const flags = (INSTALL.exec(command.replace(/\s+/g, " "))?.[1] ?? "").split(" ");
  const read = PackageJson.safeParse(jsonOf(packageJson));
  if (!read.success) return { reason: "its package.json can't be read" };
  const { dependencies, devDependencies, scripts } = read.data;
  const script = INSTALL_SCRIPTS.find((name) => name in scripts);
  if (script !== undefined && !flags.includes("--ignore-scripts"))
    return { reason: `the ${script} script of package.json would have to run` };

  const production = flags.some((flag) => ["--omit=dev", "--production", "--only=production", "--only=prod"].includes(flag));
  const wanted = Object.entries(production ? dependencies : { ...devDependencies, ...dependencies });
  const found = wanted.map(([name, range]) => ({ name, range, package: machine.findPackage(name) }));
  const missing = found.filter((one) => one.package === null || !fits(one.package.version, one.range));
  if (missing.length > 0) {
    const names = missing.map((one) => `${one.name}@${one.range}${one.package === null ? "" : ` (there is ${one.package.version})`}`);
    return { reason: `agent-env's own installation lacks ${names.join(", ")}` };
  }
  return { packages: found.flatMap((one) => (one.package === null ? [] : [{ name: one.name, folder: one.package.folder }])) };
}

/** Whether a version is in an npm range of one of the plain forms: exact, `^`, `~`, `>=`, a prefix, or any. */
export function fits(version: string, range: string): boolean {
  const wanted = range.trim();
  if (wanted === "" || wanted === "*" || wanted === "latest" || wanted === version) return true;
  const [, operator = "", parts = ""] = /^(\^|~|>=|)v?(\d+(?:\.(?:\d+|x|\*)){0,2})$/.exec(wanted) ?? [];
  if (parts === "") return false;
  const have = version.split("-")[0]?.split(".").map(Number) ?? [];
  const want = parts
    .split(".")
    .filter((part) => part !== "x" && part !== "*")
    .map(Number);
  const same = (count: number): boolean => want.slice(0, count).every((part, index) => part === have[index]);
  if (operator === "") return want.length < 3 && same(want.length);
  if (!isAtLeast(have, want)) return false;
  if (operator === ">=") return true;
  if (operator === "~") return same(Math.min(2, want.length));
  const firstThatCounts = want.findIndex((part) => part !== 0);
  return same(firstThatCounts === -1 ? want.length : firstThatCounts + 1);
}

function isAtLeast(have: readonly number[], want: readonly number[]): boolean {
  const difference = want.map((part, index) => (have[index] ?? 0) - part).find((delta) => delta !== 0);
  return difference === undefined || difference > 0;
}
