import { posix } from "node:path";
import { readBase } from "./bases.ts";
import { copyInto } from "./copy.ts";
import { type Draft, placed, workingFolder } from "./draft.ts";
import { execForm, type Instruction } from "./instructions.ts";
import { isNpmInstall, skipInstall } from "./npm-install.ts";
import type { Command } from "./start-command.ts";
import { inside } from "./tree.ts";
import { expand, words } from "./words.ts";

type Follow = (instruction: Instruction, draft: Draft) => void | Promise<void>;

const nothing: Follow = () => {};

/** What each instruction does to the image. One that isn't here can't be honoured without Docker. */
const INSTRUCTIONS: Readonly<Record<string, Follow>> = {
  FROM: followFrom,
  ARG: followArg,
  ENV: followEnv,
  WORKDIR: followWorkdir,
  COPY: followCopy,
  ADD: followCopy,
  RUN: followRun,
  CMD: (instruction, draft) => {
    draft.command = { at: instruction, command: commandOf(instruction) };
  },
  ENTRYPOINT: (instruction, draft) => {
    draft.entrypoint = { at: instruction, command: commandOf(instruction) };
  },
  EXPOSE: nothing,
  LABEL: nothing,
  MAINTAINER: nothing,
  USER: (instruction, draft) => note(instruction, draft, "ignored: the process runs as you"),
  HEALTHCHECK: (instruction, draft) => note(instruction, draft, "ignored: servers are probed from outside"),
};

/** Lets one instruction change the draft; what can't be honoured becomes one of its problems. Throws `UnreadableWord`. */
export async function follow(instruction: Instruction, draft: Draft): Promise<void> {
  const step = INSTRUCTIONS[instruction.keyword];
  if (step === undefined) refuse(instruction, draft, "it can't be honoured without Docker");
  else if (instruction.hereDocument) refuse(instruction, draft, "here-documents can't be honoured without Docker");
  else await step(instruction, draft);
}

/** Adds a problem of one instruction. */
export function refuse(instruction: Instruction, draft: Draft, reason: string): void {
  draft.problems.push(placed(draft, instruction, reason));
}

function note(instruction: Instruction, draft: Draft, reason: string): void {
  draft.notes.push(placed(draft, instruction, reason));
}

function scope(draft: Draft): ReadonlyMap<string, string> {
  return draft.from === null ? draft.globalArguments : new Map([...draft.arguments, ...draft.environment]);
}

async function followFrom(instruction: Instruction, draft: Draft): Promise<void> {
  if (draft.from !== null) {
    refuse(instruction, draft, "several stages can't be honoured without Docker");
    // Of several stages the last one is what starts.
    draft.from = instruction;
    draft.command = null;
    draft.entrypoint = null;
    return;
  }
  const [reference = ""] = words(instruction.text, scope(draft));
  draft.from = instruction;
  if (instruction.flags.length > 0) refuse(instruction, draft, "a process can't be given another platform than this machine's");
  const found = await readBase(reference, draft.machine);
  if ("reason" in found) {
    refuse(instruction, draft, found.reason);
    return;
  }
  draft.base = found.base;
  if (found.base === "sdk") {
    draft.workingFolders.push("/app");
    draft.tree.put("/app", { kind: "folder" });
    draft.environment.set("PATH", `/node_modules/.bin:${draft.environment.get("PATH")}`);
  }
}

function followArg(instruction: Instruction, draft: Draft): void {
  for (const [name, value] of instruction.pairs) {
    const target = draft.from === null ? draft.globalArguments : draft.arguments;
    const text = value === null ? draft.globalArguments.get(name) : expand(value, scope(draft));
    if (text !== undefined) target.set(name, text);
  }
}

function followEnv(instruction: Instruction, draft: Draft): void {
  // All values of one ENV see what was set before it.
  const before = scope(draft);
  for (const [name, value] of instruction.pairs) draft.environment.set(name, expand(value ?? "", before));
}

function followWorkdir(instruction: Instruction, draft: Draft): void {
  const path = expand(instruction.text, scope(draft));
  const folder = inside(posix.isAbsolute(path) ? path : posix.join(workingFolder(draft), path));
  draft.workingFolders.push(folder);
  const reason = draft.tree.put(folder, { kind: "folder" });
  if (reason !== null) refuse(instruction, draft, reason);
}

function followCopy(instruction: Instruction, draft: Draft): void {
  const arguments_ = execForm(instruction.text)?.map((word) => expand(word, scope(draft))) ?? words(instruction.text, scope(draft));
  const sources = arguments_.slice(0, -1);
  const destination = arguments_.at(-1);
  const flags = new Map(instruction.flags.map(({ name, value }) => [name, value]));
  const mode = flags.get("chmod") ?? null;
  const unknown = [...flags.keys()].find((name) => !["chown", "chmod", "link"].includes(name));
  const url = sources.find((source) => /^(https?|ftp|git|ssh):\/\/|^git@/.test(source));
  if (unknown !== undefined) {
    refuse(
      instruction,
      draft,
      unknown === "from" ? "several stages can't be honoured without Docker" : `--${unknown} can't be honoured without Docker`,
    );
  } else if (mode !== null && !/^[0-7]{3,4}$/.test(mode)) refuse(instruction, draft, "--chmod can be honoured only as an octal number");
  else if (destination === undefined || sources.length === 0) refuse(instruction, draft, "it needs a source and a destination");
  else if (url !== undefined) refuse(instruction, draft, "a URL can't be fetched without Docker");
  else {
    const reasons = copyInto(draft.tree, draft.context, {
      sources,
      destination,
      workingFolder: workingFolder(draft),
      executable: mode === null ? null : (Number.parseInt(mode, 8) & 0o100) !== 0,
      refuseArchives: instruction.keyword === "ADD",
    });
    for (const reason of reasons) refuse(instruction, draft, reason);
    if (flags.has("chown")) note(instruction, draft, "--chown is ignored: the files are yours");
  }
}

async function followRun(instruction: Instruction, draft: Draft): Promise<void> {
  const command = execForm(instruction.text)?.join(" ") ?? instruction.text;
  if (!isNpmInstall(command) || instruction.flags.length > 0) {
    refuse(instruction, draft, "commands can't be run without Docker, only npm ci and npm install may be skipped");
    return;
  }
  const folder = workingFolder(draft);
  const manifest = draft.tree.get(posix.join(folder, "package.json"));
  if (manifest?.kind !== "file") {
    refuse(instruction, draft, `there is no package.json in ${folder} at this line`);
    return;
  }
  const skipped = skipInstall(command, new TextDecoder().decode(await manifest.bytes()), draft.machine);
  if ("reason" in skipped) refuse(instruction, draft, skipped.reason);
  else {
    for (const { name, folder: target } of skipped.packages) draft.packages.set(posix.join(folder, "node_modules", name), target);
    note(instruction, draft, "skipped: agent-env's own installation has the packages");
  }
}

function commandOf(instruction: Instruction): Command {
  const exec = instruction.text === "" ? [] : execForm(instruction.text);
  return exec === null ? { form: "shell", line: instruction.text } : { form: "exec", words: exec };
}
