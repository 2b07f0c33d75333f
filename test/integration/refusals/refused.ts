import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Problem, problemLine } from "@agent-env/protocol";
import { checkBundle } from "../../../build-service/src/bundle/check.ts";
import { planBundle } from "../../../build-service/src/bundle/plan.ts";
import { runCli } from "../../../build-service/src/cli/cli.ts";
import { putNextVersion } from "../../../build-service/src/store/versions.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../fixtures/folder.ts";
import { type MemoryStore, memoryStore, untouchableStore } from "../../fixtures/memory-store.ts";
import type { PluginRefusal } from "./plugin-cases.ts";
import type { Refusal } from "./refusal.ts";
import type { StoreRefusal } from "./store-cases.ts";
import type { Stored } from "./stored.ts";

/** What a command says of a bundle, and what of it or beside it is another than before. */
export type Seen = { readonly lines: readonly string[]; readonly exitCode: number; readonly traces: readonly string[] };

/** What a command says of the bundle. `words` come before and after the folder. */
export async function said(
  { tree, prepare }: Pick<Refusal, "tree" | "prepare">,
  words: readonly string[],
  options: readonly string[] = [],
): Promise<Seen> {
  using bundle = bundleOf({ tree, prepare });
  using outside = temporaryFolder();
  const stateDir = join(outside.path, "state");
  const before = contentOf(Buffer.from(bundle.path));
  const { exitCode, problems } = await commandProblems([...words, bundle.path, ...options, "--json"], stateDir);
  const after = contentOf(Buffer.from(bundle.path));
  const traces = [...new Set([...before, ...after])].filter((line) => !before.includes(line) || !after.includes(line));
  return {
    lines: shownLines(problems, bundle.path),
    exitCode,
    traces: [...traces, ...(existsSync(stateDir) ? ["the state folder was made"] : [])],
  };
}

/** What a plan says of the bundle beside a store that throws when it is touched. */
export async function plannedUntouched({ tree, prepare }: Pick<Refusal, "tree" | "prepare">): Promise<readonly string[]> {
  using bundle = bundleOf({ tree, prepare });
  const { problems } = await planBundle({ folder: bundle.path, selection: { tasks: [], evals: [] }, store: untouchableStore() });
  return shownLines(problems, bundle.path);
}

/** What a check says of the bundle with a plugin's types and providers. */
export async function checkedWith({ tree, registry }: PluginRefusal): Promise<readonly string[]> {
  using bundle = bundleOf({ tree });
  const { problems } = await checkBundle(bundle.path, { registry });
  return shownLines(problems, bundle.path);
}

/** What a plan says of the bundle beside that store, and what it has written into it. */
export async function plannedBeside({
  tree,
  stored,
}: StoreRefusal): Promise<{ readonly lines: readonly string[]; readonly writes: readonly string[] }> {
  using bundle = bundleOf({ tree });
  const store = memoryStore();
  for (const item of stored) await put(store, item, `@local${bundle.path}`);
  const before = store.writes.length;
  const { problems } = await planBundle({ folder: bundle.path, selection: { tasks: [], evals: [] }, store });
  return { lines: shownLines(problems, bundle.path), writes: store.writes.slice(before) };
}

async function put(store: MemoryStore, item: Stored, root: string): Promise<void> {
  if ("key" in item) return store.objects.put(item.key, item.text);
  const { id, type, ...fields } = item.record;
  await putNextVersion(store, item.kind, { ...fields, id: id.replace("<root>", root), type }, {});
}

/** A case's folder on the disk. */
function bundleOf({ tree, prepare }: Pick<Refusal, "tree" | "prepare">): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder();
  const root = `@local${folder.path}`;
  const texts = Object.entries(tree).map(([path, content]) => [
    path,
    typeof content === "string" ? content.replaceAll("<root>", root) : content,
  ]);
  writeTree(folder.path, Object.fromEntries(texts) as FolderTree);
  prepare?.(folder.path);
  return folder;
}

/** The exit code of a command with `--json`, and the problems that it tells. */
export async function commandProblems(
  argv: readonly string[],
  stateDir: string,
): Promise<{ exitCode: number; problems: readonly Problem[] }> {
  let out = "";
  let err = "";
  const output = (add: (text: string) => void) => ({ write: add, isTTY: false, columns: 80 });
  const exitCode = await runCli(argv, {
    out: output((text) => {
      out += text;
    }),
    err: output((text) => {
      err += text;
    }),
    env: { ...process.env, AGENT_ENV_STATE_DIR: stateDir },
    cwd: process.cwd(),
    signal: new AbortController().signal,
  });
  if (err !== "") throw new Error(`${argv.join(" ")}: ${err}`);
  // `run` and `plan` write a line an event, the last of which is the result; `check` writes one document.
  const { problems } = JSON.parse(argv[1] === "check" ? out : (out.trimEnd().split("\n").at(-1) ?? ""));
  if (!Array.isArray(problems)) throw new Error(`${argv.join(" ")}: ${out}`);
  return { exitCode, problems };
}

/** `<code> <path>: <message>` each, the bundle as `<bundle>` and its id root as `<root>`. */
export function shownLines(problems: readonly Problem[], folder: string): string[] {
  return problems.map((problem) =>
    `${problem.code} ${problemLine(problem)}`.replaceAll(`@local${folder}`, "<root>").replaceAll(folder, "<bundle>"),
  );
}

/** Of a larger file (a sparse one), size and time stand for its bytes. */
const READ_BYTES = 2 ** 24;

/** Every item of a folder with its mode, size, time and a digest of its bytes. Names are bytes: not all are UTF-8. */
function contentOf(folder: Buffer): string[] {
  return readdirSync(folder, { encoding: "buffer" }).flatMap((name) => {
    const disk = Buffer.concat([folder, Buffer.from("/"), name]);
    const stats = lstatSync(disk);
    const digest = stats.isFile() && stats.size <= READ_BYTES ? createHash("sha256").update(readFileSync(disk)).digest("hex") : "";
    const line = `${disk.toString("latin1")} ${stats.mode.toString(8)} ${stats.size} ${stats.mtimeMs} ${digest}`;
    return [line, ...(stats.isDirectory() ? contentOf(disk) : [])];
  });
}
