import { extname, resolve } from "node:path";
import { programOn } from "../../providers/sandbox/process/machine.ts";

export type VerifierLanguage = "python" | "node";

const SUFFIXES: Readonly<Record<string, VerifierLanguage>> = {
  ".py": "python",
  ".ts": "node",
  ".mts": "node",
  ".js": "node",
  ".mjs": "node",
};

/** What runs a verifier's file, by its suffix; null for a suffix that nothing does. */
export function verifierLanguage(filename: string): VerifierLanguage | null {
  return SUFFIXES[extname(filename)] ?? null;
}

/**
 * Why a verifier's file can't be run on this machine, for `deploy-verifier` and for the run itself; null if it can.
 * `python` is the interpreter's name or path.
 */
export function verifierProblem(filename: string, python: string): string | null {
  const language = verifierLanguage(filename);
  if (language === null) return `${JSON.stringify(filename)}: a verifier's file ends in ${Object.keys(SUFFIXES).join(", ")}`;
  if (language === "node" || pythonProgram(python) !== null) return null;
  return `${JSON.stringify(filename)}: ${JSON.stringify(python)} isn't a program on this machine: install it, or put it on PATH`;
}

/** Absolute path of the interpreter of that name or path, or null. */
export function pythonProgram(python: string): string | null {
  return programOn(process.env.PATH ?? "", python.includes("/") ? resolve(python) : python);
}
