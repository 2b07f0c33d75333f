import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MACHINE_PATH } from "./draft.ts";
import { placePaths } from "./image-paths.ts";
import type { ImagePlan } from "./image-plan.ts";
import type { Machine } from "./machine.ts";

/** What to start, where, and with which of the image's own variables (`PATH` and `HOME` among them). */
export type LaidOut = {
  /** The folder that stands for the image's `/`, and the server's HOME. */
  readonly root: string;
  readonly argv: readonly string[];
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string>>;
};

/** Writes an image's files below a service's own new folder: its `/` as `root`, its interpreters in `bin`. */
export async function layOut(plan: ImagePlan, folder: string, machine: Machine): Promise<LaidOut> {
  const root = join(folder, "root");
  await plan.tree.write(root);
  // A WORKDIR is there even where nothing was copied into it.
  for (const path of ["/tmp", ...plan.workingFolders]) await mkdir(join(root, path), { recursive: true });
  for (const [path, target] of plan.packages) {
    // The image's own copy wins, as it would over what npm ci installed before it was copied.
    if (plan.tree.get(path) !== undefined) continue;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await symlink(target, join(root, path));
  }
  const bin = await interpreters(plan, folder, machine);
  const place = (text: string): string => placePaths(text, plan, root);
  const variables = [...plan.environment].map(([name, value]) => [name, place(value)] as const);
  const path = place(plan.environment.get("PATH") ?? MACHINE_PATH).replaceAll(MACHINE_PATH, machine.path);
  return {
    root,
    argv: plan.argv.map(place),
    workingFolder: join(root, plan.workingFolders.at(-1) ?? "/"),
    environment: { ...Object.fromEntries(variables), PATH: `${bin}:${path}`, HOME: root },
  };
}

/** `node` is the one that runs agent-env, and an image of Python's has it as `python` too, whatever this machine calls it. */
async function interpreters(plan: Pick<ImagePlan, "base">, folder: string, machine: Machine): Promise<string> {
  const bin = join(folder, "bin");
  await mkdir(bin, { recursive: true });
  await symlink(machine.node, join(bin, "node"));
  const python = plan.base === "python" ? await machine.python() : null;
  if (python !== null) {
    await symlink(python.path, join(bin, "python"));
    await symlink(python.path, join(bin, "python3"));
  }
  return bin;
}
