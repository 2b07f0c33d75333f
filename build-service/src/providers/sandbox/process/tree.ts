import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join, posix, relative } from "node:path";

/** `target` of a link is a path of the image too: absolute, and within it. */
export type TreeEntry =
  | { readonly kind: "file"; bytes(): Uint8Array | Promise<Uint8Array>; readonly executable: boolean }
  | { readonly kind: "folder" }
  | { readonly kind: "link"; readonly target: string };

/** The files of an image in the making, by their absolute path in it. No path leads through a link or out of it. */
export class ImageTree {
  readonly #entries = new Map<string, TreeEntry>([["/", { kind: "folder" }]]);

  get(path: string): TreeEntry | undefined {
    return this.#entries.get(path);
  }

  /** Puts an entry there and makes the folders above it. Returns why it can't, or null. */
  put(path: string, entry: TreeEntry): string | null {
    const at = inside(path);
    const above = posix.dirname(at);
    if (at !== "/") {
      const reason = this.put(above, { kind: "folder" });
      if (reason !== null) return reason;
    }
    const before = this.#entries.get(at);
    if (before !== undefined && before.kind !== entry.kind && (before.kind === "folder" || entry.kind === "folder")) {
      return `${JSON.stringify(at)} is a ${before.kind} by then, and can't become a ${entry.kind}`;
    }
    this.#entries.set(at, entry);
    return null;
  }

  /** Writes all of it below `root`, a folder that nobody else has put anything into. */
  async write(root: string): Promise<void> {
    for (const [path, entry] of this.#entries) {
      const at = join(root, path);
      if (entry.kind === "folder") await mkdir(at, { recursive: true });
      else if (entry.kind === "file") await writeFile(at, await entry.bytes(), { flag: "wx", mode: entry.executable ? 0o755 : 0o644 });
      else await symlink(relative(dirname(at), join(root, entry.target)), at);
    }
  }
}

/** A path as it lies in an image: absolute and plain. `..` ends at the image's root, as in a container. */
export function inside(path: string): string {
  const plain = posix.normalize(`/${path}`);
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain;
}
