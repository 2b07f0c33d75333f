import type { SourceEntry } from "../../../images/builder.ts";
import type { Base } from "./bases.ts";
import type { Instruction } from "./instructions.ts";
import type { Machine } from "./machine.ts";
import type { Command } from "./start-command.ts";
import { ImageTree } from "./tree.ts";

/** Stands for this machine's own PATH in an image's `PATH`, so that it is not taken for a path of the image. */
export const MACHINE_PATH = "\0";

/** An image while its Dockerfile is followed, instruction by instruction. */
export type Draft = {
  readonly dockerfile: string;
  readonly context: readonly SourceEntry[];
  readonly machine: Machine;
  /** `<Dockerfile>:<line>: <instruction>: <reason>`. */
  readonly problems: string[];
  /** What is left out without harm, in the same form. */
  readonly notes: string[];
  readonly tree: ImageTree;
  /** Links out of the image: its path of a package → where that package lies on this machine. */
  readonly packages: Map<string, string>;
  /** Every folder that `WORKDIR` named; the last one is where the command runs. */
  readonly workingFolders: string[];
  readonly environment: Map<string, string>;
  readonly arguments: Map<string, string>;
  /** Of the `ARG`s above `FROM`, which an `ARG` without a value takes over. */
  readonly globalArguments: Map<string, string>;
  from: Instruction | null;
  base: Base | null;
  entrypoint: { readonly at: Instruction; readonly command: Command } | null;
  command: { readonly at: Instruction; readonly command: Command } | null;
};

export function emptyDraft(dockerfile: string, context: readonly SourceEntry[], machine: Machine): Draft {
  return {
    dockerfile,
    context,
    machine,
    problems: [],
    notes: [],
    tree: new ImageTree(),
    packages: new Map(),
    workingFolders: ["/"],
    environment: new Map([["PATH", MACHINE_PATH]]),
    arguments: new Map(),
    globalArguments: new Map(),
    from: null,
    base: null,
    entrypoint: null,
    command: null,
  };
}

/** The line that says what can't be honoured, or what is left out: file, line, instruction, reason. */
export function placed(draft: Draft, instruction: Instruction, reason: string): string {
  const flags = instruction.flags.map(({ name, value }) => `--${name}${value === null ? "" : `=${value}`} `).join("");
  const text = `${flags}${instruction.text}`;
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return `${draft.dockerfile}:${instruction.line}: ${`${instruction.keyword} ${shown.replace(/\s+/g, " ")}`.trim()}: ${reason}`;
}

export function workingFolder(draft: Draft): string {
  return draft.workingFolders.at(-1) ?? "/";
}
