import type { Machine } from "./machine.ts";

/** What an image is built on, as far as a process needs to know. `python` and `node` bring the interpreter of that name. */
export type Base = "node" | "python" | "debian" | "sdk";

const SDK_IMAGE = "agent-env/sdk";

/** Docker Hub's own `node`, `python` and `debian`, also by their full name or through a mirror's `library/`. */
const OFFICIAL = /^(?:docker\.io\/)?(?:(?:[^/]+\/)*library\/)?(node|python|debian)(?::([\w.-]+))?(?:@sha256:[0-9a-f]+)?$/;

/** The base that a `FROM` reference names, or why its interpreter can't be had on this machine. */
export async function readBase(reference: string, machine: Machine): Promise<{ readonly base: Base } | { readonly reason: string }> {
  if (reference === SDK_IMAGE || reference.startsWith(`${SDK_IMAGE}:`)) {
    const known = `${SDK_IMAGE}:${machine.sdkVersion}`;
    return reference === known ? { base: "sdk" } : { reason: `this agent-env brings ${known} and no other version` };
  }
  const [, name, tag = ""] = OFFICIAL.exec(reference) ?? [];
  if (name === "debian") return { base: "debian" };
  if (name === "node") {
    const reason = tooOld("Node", tag, machine.nodeVersion);
    return reason === null ? { base: "node" } : { reason };
  }
  if (name === "python") {
    const python = await machine.python();
    if (python === null) return { reason: "python3 isn't on this machine's PATH" };
    const reason = tooOld("Python", tag, python.version) ?? otherPython(tag, python.version);
    return reason === null ? { base: "python" } : { reason };
  }
  return { reason: `without Docker only Node, Python and Debian images and ${SDK_IMAGE} can be stood in for` };
}

/** Why an interpreter is older than an image's tag asks; null when it isn't, or the tag names no number. */
function tooOld(name: string, tag: string, version: string): string | null {
  const wanted = /^\d+(?:\.\d+){0,2}(?=$|[-a-z])/.exec(tag)?.[0];
  if (wanted === undefined) return null;
  const have = numbers(version);
  const difference = numbers(wanted)
    .map((part, index) => (have[index] ?? 0) - part)
    .find((delta) => delta !== 0);
  if (difference === undefined || difference > 0) return null;
  return `it needs ${name} ${wanted} or newer, and ${name} on this machine is ${version}`;
}

function otherPython(tag: string, version: string): string | null {
  const [wanted] = numbers(tag);
  const [have] = numbers(version);
  return wanted === undefined || wanted === have ? null : `it needs Python ${wanted}, and Python on this machine is ${version}`;
}

function numbers(version: string): number[] {
  return (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? "").split(".").filter(Boolean).map(Number);
}
