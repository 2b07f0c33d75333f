import type { ImageContext } from "../../../images/builder.ts";
import type { BaseFiles } from "../../../infra/sdk-files.ts";
import { type Draft, emptyDraft, placed, workingFolder } from "./draft.ts";
import { follow, refuse } from "./follow.ts";
import { type Instruction, readInstructions } from "./instructions.ts";
import type { Machine } from "./machine.ts";
import { missingProgram, startCommand } from "./start-command.ts";
import { inside } from "./tree.ts";
import { UnreadableWord } from "./words.ts";

/** How an image is stood in for by files and a command on this machine. Worth following only without problems. */
export type ImagePlan = Pick<Draft, "problems" | "notes" | "base" | "tree" | "packages" | "workingFolders" | "environment"> & {
  readonly argv: readonly string[];
};

/**
 * Follows an image's Dockerfile over its context (5-run §5.6), with all that can't be honoured as problems. `sdk` is what
 * `agent-env/sdk` adds to its own base: of it only the paths are asked for here.
 */
export async function planImage(image: ImageContext, machine: Machine, sdk: BaseFiles): Promise<ImagePlan> {
  const context = await image.entries();
  const file = context.find((entry) => entry.path === image.dockerfile);
  if (file?.kind !== "file") throw new Error(`the context of an image lacks its own ${image.dockerfile}`);
  const { instructions, escapeCharacter } = readInstructions(new TextDecoder().decode(file.bytes()));
  const draft = emptyDraft(image.dockerfile, context, machine);
  if (escapeCharacter !== "\\")
    draft.problems.push(`${image.dockerfile}:1: an escape character other than \\ can't be honoured without Docker`);
  for (const instruction of instructions) await followReadable(instruction, draft);
  if (draft.base === "sdk") addBelow(draft, sdk);
  return { ...draft, argv: settledCommand(draft) };
}

async function followReadable(instruction: Instruction, draft: Draft): Promise<void> {
  try {
    await follow(instruction, draft);
  } catch (error) {
    if (!(error instanceof UnreadableWord)) throw error;
    refuse(instruction, draft, error.message);
  }
}

/** Adds a base image's own files where the image has put none of that name. What lies in `node_modules/.bin` is executable. */
function addBelow(draft: Draft, base: BaseFiles): void {
  for (const name of base.paths) {
    const path = inside(name);
    const executable = path.startsWith("/node_modules/.bin/");
    const bytes = async (): Promise<Uint8Array> => new TextEncoder().encode(await base.text(name));
    if (draft.tree.get(path) === undefined) draft.tree.put(path, { kind: "file", bytes, executable });
  }
}

function settledCommand(draft: Draft): readonly string[] {
  if (draft.from === null) {
    draft.problems.push(`${draft.dockerfile}:1: there is no FROM`);
    return [];
  }
  const argv = startCommand(draft.entrypoint?.command ?? null, draft.command?.command ?? null);
  if (argv === null) {
    draft.problems.push(placed(draft, draft.from, "neither CMD nor ENTRYPOINT says what to start, and the base image isn't asked"));
    return [];
  }
  const missing = missingProgram(argv, workingFolder(draft), draft.tree, draft.machine);
  if (missing !== null) refuse(draft.entrypoint?.at ?? draft.command?.at ?? draft.from, draft, missing);
  return argv;
}
