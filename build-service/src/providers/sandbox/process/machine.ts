import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { sdkVersion } from "../../../infra/sdk-files.ts";

export type Python = { readonly path: string; readonly version: string };

/** What this machine has that servers may be run with. */
export type Machine = {
  /** Absolute path of the Node that runs agent-env, and its version. */
  readonly node: string;
  readonly nodeVersion: string;
  /** `python3` as it calls itself; null if there is none. Asking takes a while, so it is asked once, when a Dockerfile needs it. */
  python(): Promise<Python | null>;
  readonly path: string;
  /** The version of `@agent-env/sdk` that this agent-env brings. */
  readonly sdkVersion: string;
  /** Where a package of agent-env's own installation lies; null if it isn't there. */
  findPackage(name: string): { readonly folder: string; readonly version: string } | null;
  /** Absolute path of a program on `path`, or null. */
  findProgram(name: string): string | null;
};

const PackageJson = z.object({ version: z.string() });

let seen: Promise<Machine> | null = null;

/** This machine, looked at once a process. */
export function thisMachine(): Promise<Machine> {
  seen ??= lookAtMachine();
  return seen;
}

async function lookAtMachine(): Promise<Machine> {
  const path = process.env.PATH ?? "";
  const findProgram = (name: string): string | null => programOn(path, name);
  let python: Promise<Python | null> | null = null;
  return {
    node: process.execPath,
    nodeVersion: process.versions.node,
    python() {
      const program = findProgram("python3");
      python ??= program === null ? Promise.resolve(null) : pythonAt(program);
      return python;
    },
    path,
    sdkVersion: await sdkVersion(),
    findPackage,
    findProgram,
  };
}

/** Absolute path of the first executable file of that name in the folders of a PATH, or null; an absolute name is its own path. */
export function programOn(path: string, name: string): string | null {
  if (name.startsWith("/")) return isExecutable(name) ? name : null;
  const candidates = path
    .split(delimiter)
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, name));
  return candidates.find(isExecutable) ?? null;
}

/** `sys.executable`, since what is on a PATH may be a script that finds the interpreter by variables a server isn't given. */
async function pythonAt(path: string): Promise<Python> {
  const program = "import platform, sys; print(sys.executable); print(platform.python_version())";
  const { stdout } = await promisify(execFile)(path, ["-I", "-c", program]);
  const [executable = path, version = ""] = stdout.trim().split("\n");
  return { path: executable, version };
}

function findPackage(name: string): { folder: string; version: string } | null {
  const manifest = packageJsonOf(name);
  if (manifest === null) return null;
  return { folder: dirname(manifest), version: PackageJson.parse(JSON.parse(readFileSync(manifest, "utf8"))).version };
}

function packageJsonOf(name: string): string | null {
  try {
    return findPackageJSON(name, import.meta.url) ?? null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}

function isExecutable(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && (found.mode & 0o111) !== 0;
}
