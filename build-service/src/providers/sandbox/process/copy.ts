import { posix } from "node:path";
import type { SourceEntry } from "../../../images/builder.ts";
import { type ImageTree, inside, type TreeEntry } from "./tree.ts";

export type CopyRequest = {
  readonly sources: readonly string[];
  readonly destination: string;
  readonly workingFolder: string;
  /** Of `--chmod`; null: as in the context. */
  readonly executable: boolean | null;
  /** `ADD` unpacks archives, which is not done here. */
  readonly refuseArchives: boolean;
};

/** Copies from a build context into an image as `COPY` does. Returns why something can't be, each reason once. */
export function copyInto(tree: ImageTree, context: readonly SourceEntry[], request: CopyRequest): string[] {
  const destination = inside(posix.join(posix.isAbsolute(request.destination) ? "/" : request.workingFolder, request.destination));
  const found = request.sources.map((source) => ({ source, paths: select(source, context) }));
  const intoFolder =
    /(^|\/)\.{0,2}$/.test(request.destination) ||
    found.flatMap(({ paths }) => paths ?? []).length > 1 ||
    tree.get(destination)?.kind === "folder";

  const reasons = found.flatMap(({ source, paths }) => {
    if (paths === null) return [`${JSON.stringify(source)} leaves the build context`];
    if (paths.length === 0) return [`nothing in the build context matches ${JSON.stringify(source)}`];
    return paths.flatMap((path) => copyOne(tree, context, { ...request, path, destination, intoFolder }));
  });
  // One file in the way is in the way of all that was to lie below it.
  return [...new Set(reasons)];
}

type OneCopy = CopyRequest & { readonly path: string; readonly intoFolder: boolean };

function copyOne(tree: ImageTree, context: readonly SourceEntry[], request: OneCopy): string[] {
  const { path, destination } = request;
  const single = context.find((entry) => entry.path === path);
  if (single?.kind === "link") return [`${JSON.stringify(path)} is a link, which is followed only inside a copied folder`];
  if (single?.kind === "file") {
    if (request.refuseArchives && isArchive(single.bytes())) return [`${JSON.stringify(path)} is an archive, which ADD would unpack`];
    const at = request.intoFolder ? posix.join(destination, posix.basename(path)) : destination;
    return asList(tree.put(at, placed(single, at, request)));
  }
  // Of a folder the contents are copied, not the folder itself.
  const below = context.filter((entry) => path === "" || entry.path.startsWith(`${path}/`));
  return [
    ...asList(tree.put(destination, { kind: "folder" })),
    ...below.flatMap((entry) => {
      const at = inside(posix.join(destination, path === "" ? entry.path : entry.path.slice(path.length + 1)));
      return asList(tree.put(at, placed(entry, at, request)));
    }),
  ];
}

function placed(entry: SourceEntry, at: string, request: OneCopy): TreeEntry {
  if (entry.kind === "folder") return { kind: "folder" };
  if (entry.kind === "file") return { kind: "file", bytes: entry.bytes, executable: request.executable ?? entry.executable };
  return { kind: "link", target: inside(posix.isAbsolute(entry.target) ? entry.target : posix.join(posix.dirname(at), entry.target)) };
}

/** The context's paths that a source names; `""` is the whole context; null when it points out of it. */
function select(source: string, context: readonly SourceEntry[]): string[] | null {
  const plain = posix.normalize(source.replace(/^\/+/, "") || ".").replace(/\/$/, "");
  if (plain === ".." || plain.startsWith("../")) return null;
  if (plain === ".") return [""];
  const paths = new Set(context.flatMap(({ path }) => [path, ...foldersAbove(path)]));
  if (paths.has(plain) || !/[*?[]/.test(plain)) return paths.has(plain) ? [plain] : [];
  const pattern = globPattern(plain);
  return [...paths].filter((path) => pattern.test(path)).sort();
}

function foldersAbove(path: string): string[] {
  const above = posix.dirname(path);
  return above === "." ? [] : [above, ...foldersAbove(above)];
}

/** Go's `filepath.Match`, which `COPY` uses: `*`, `?` and `[…]`, none of them across a `/`. */
function globPattern(glob: string): RegExp {
  const source = glob.replace(/\[\^?[^\]]+\]|\\.|[\s\S]/g, (part) => {
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.length > 1) return part;
    return part.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${source}$`, "u");
}

function isArchive(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 6)).toString("latin1");
  const tarMark = Buffer.from(bytes.subarray(257, 262)).toString("latin1");
  return head.startsWith("\x1f\x8b") || head.startsWith("BZh") || head === "\xfd7zXZ\0" || tarMark === "ustar";
}

function asList(reason: string | null): string[] {
  return reason === null ? [] : [reason];
}
