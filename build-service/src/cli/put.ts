import { type AnyRecord, type Problem, Refused, UserError } from "@agent-env/protocol";
import { type Command, Option } from "commander";
import { lockOwner } from "../bundle/write-locks.ts";
import { masked } from "../config/masked.ts";
import { idInBundle } from "../put/bundle-here.ts";
import { inOptions } from "../put/by-options.ts";
import { type ContextFolder, openContext } from "../put/context-folder.ts";
import { checkPut, type PutEntity, type Written, writePut } from "../put/put-entity.ts";
import { newRunId } from "../store/run-lock.ts";
import type { Store } from "../store/store.ts";
import type { Registry } from "../types/registry.ts";
import { type CommonOptions, type Io, printDocument, progressFor } from "./io.ts";
import { wholeNumberIn } from "./numbers.ts";
import { checkedWriting } from "./stores.ts";

type Checked = Awaited<ReturnType<typeof checkPut>>;

export type PutCommand = {
  /** Reads what is to be put. Nothing of the store is known yet. */
  entity(registry: Registry, store: Store): Promise<PutEntity> | PutEntity;
  /** Judges it; left out: by itself and by what the store holds. */
  check?(put: PutEntity, context: { readonly store: Store; readonly registry: Registry }): Promise<Checked>;
  /** Which problems are only told, and what is saved all the same. */
  readonly tolerates?: (problem: Problem) => boolean;
  /** The options that stand for a toml's keys, for messages. */
  readonly words?: Readonly<Record<string, string>>;
  /** What the user may want to do with it now. */
  readonly next?: (id: string) => string;
};

/** Judges and writes what a command puts, and prints what it has become. Throws `Refused` with all problems; then nothing was written. */
export async function runPut(io: Io, options: CommonOptions, command: PutCommand): Promise<void> {
  const reporter = progressFor(io, options);
  const { emit } = reporter;
  const registry = await registryHere(io);
  const judge = command.check ?? checkPut;
  try {
    const written = await checkedWriting(
      io,
      async (store) => {
        const checked = await judge(await command.entity(registry, store), { store, registry });
        const isTold = command.tolerates ?? (() => false);
        const problems = inOptions(checked.problems, command.words ?? {});
        for (const { path, message } of [...checked.checked.warnings, ...problems.filter(isTold)])
          emit({ kind: "log", entry: path, level: "warning", message });
        const refused = problems.filter((problem) => !isTold(problem));
        if (refused.length > 0) throw new Refused(refused);
        return { ...checked, problems: [] };
      },
      (store, checked) => writePut(checked, { store, registry, emit, signal: io.signal, owner: lockOwner(newRunId(new Date())) }),
    );
    reporter.close();
    printWritten(io, options, written, command.next);
  } finally {
    reporter.close();
  }
}

function printWritten(io: Io, options: CommonOptions, written: readonly Written[], next: PutCommand["next"]): void {
  const last = written.at(-1);
  if (last === undefined) throw new Error("a put wrote nothing");
  const { kind, record } = last;
  const document = {
    kind,
    record: masked(record, false),
    written: written.map(({ kind: of, record: { id, version, type } }) => ({ kind: of, id, version, type })),
  };
  const text = `${record.id}: ${kind} v${record.version}${next === undefined ? "" : `\n  Next: ${next(record.id)}`}`;
  printDocument(io, options, document, text);
}

/** What is built in, and what the plugins here add. */
export async function registryHere(io: Io): Promise<Registry> {
  return (await io.loadedPlugins()).registry;
}

/** Adds a repeatable option. */
export function repeatable(command: Command, flags: string, description: string): Command {
  const collect = (value: string, earlier: string[]) => [...earlier, value];
  return command.addOption(new Option(flags, description).argParser(collect).default([], "none"));
}

/** Options that say what an image is built from. */
export type ImageOptions = {
  readonly dockerfile?: string;
  readonly context?: string;
  readonly imageRef?: string;
  readonly platform?: string;
};

/** Adds the options of `ImageOptions`. */
export function addImageOptions(command: Command): Command {
  return command
    .option("--dockerfile <file>", "the Dockerfile that the image is built from")
    .option("--context <folder>", "the folder that it is built in (the Dockerfile's own)")
    .addOption(new Option("--image-ref <reference>").hideHelp())
    .option("--platform <platform>", "what it is built for, as linux/amd64 (the Docker Engine's own)");
}

/** What the image options name. Throws a UserError (exit code 2) where they name nothing that can be put. */
export function imageContext(io: Io, { dockerfile, context, imageRef }: ImageOptions): ContextFolder {
  if (imageRef !== undefined) {
    throw new UserError({
      what: `--image-ref: ${JSON.stringify(imageRef)} names an image of a registry, which isn't supported yet`,
      why: "an image is put with its source, so that it can be built wherever it runs",
      next: "write a Dockerfile with FROM that image, and put it with --dockerfile",
      exitCode: 2,
    });
  }
  if (dockerfile !== undefined) return openContext({ dockerfile, context }, io.cwd, { dockerfile: "--dockerfile", context: "--context" });
  throw new UserError({
    what: "--dockerfile: is missing",
    why: "an image is built from a Dockerfile",
    next: "name one: --dockerfile envs/items/Dockerfile",
    exitCode: 2,
  });
}

/** The id that `asked` stands for: an entry's name in the bundle that we are in, else itself. */
export function idHere(io: Io, kind: Written["kind"], asked: string): string {
  return idInBundle(kind, asked, io.cwd) ?? asked;
}

/** The ids that `asked` may mean where something stored is asked for, the likelier one first. */
export function idsHere(io: Io, kind: Written["kind"], asked: string): string[] {
  return [...new Set([idHere(io, kind, asked), asked])];
}

/** Adds `--version`. */
export function versionOption(command: Command): Command {
  return command.option("--version <n>", "its version (the latest)", wholeNumberIn(1, Number.MAX_SAFE_INTEGER));
}

/** An id with a version that may follow it: `crm`, `crm:3`. As a toml's reference has it. */
export function pinnedRef(option: string, kind: "env", text: string): string | { readonly [key: string]: string | bigint } {
  const [id = "", version, ...others] = text.split(":");
  if (version === undefined) return id;
  if (others.length === 0 && /^[1-9]\d*$/.test(version)) return { [kind]: id, version: BigInt(version) };
  throw new UserError({
    what: `${option}: expected ID or ID:VERSION, and found ${JSON.stringify(text)}`,
    why: "a version is a whole number from 1",
    next: `write ${option} ${id || "ID"}:1, or leave the version out for the latest`,
    exitCode: 2,
  });
}

/** Prints a stored version, what looks like a secret masked (4-bundle §11.2). */
export function printRecord(io: Io, options: CommonOptions, record: AnyRecord): void {
  const shown = masked(record, false);
  printDocument(io, options, { record: shown }, JSON.stringify(shown, null, 2));
}
