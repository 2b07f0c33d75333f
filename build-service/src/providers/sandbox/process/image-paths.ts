import { join, posix } from "node:path";
import type { ImagePlan } from "./image-plan.ts";
import { inside } from "./tree.ts";

/** An absolute path within a text: after its start, white space, a quote, `=`, `:` or another list separator. */
const ABSOLUTE_PATH = /(^|[\s"'=:,;(])(\/(?!\/)[^\s"'=:,;()<>|&$`]*)/g;

/**
 * A text of an image (a word of its command, a shell line, a variable) with the image's own paths replaced by where they
 * lie below `root`: those that it holds, and those below a folder that `WORKDIR` named. Other paths are this machine's.
 */
export function placePaths(text: string, plan: Pick<ImagePlan, "tree" | "workingFolders">, root: string): string {
  return text.replace(ABSOLUTE_PATH, (whole, before: string, path: string) => {
    const plain = inside(path);
    if (plain === "/") return whole;
    const own = plan.tree.get(plain) !== undefined || plan.workingFolders.some((folder) => isBelow(plain, folder));
    return own ? `${before}${join(root, plain)}` : whole;
  });
}

function isBelow(path: string, folder: string): boolean {
  return folder !== "/" && !posix.relative(folder, path).startsWith("..");
}
