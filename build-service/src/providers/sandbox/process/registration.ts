import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jsonOf, UserError } from "@agent-env/protocol";
import { z } from "zod";

/** One server that was started. `pid` leads its process group; `started` tells it from a later process of that pid. */
const RegisteredProcess = z.object({ service: z.string(), pid: z.int().positive(), started: z.string(), folder: z.string() });
export type RegisteredProcess = z.infer<typeof RegisteredProcess>;

/** `processes.json` of a deployment's folder: its labels, and what was started for it. */
export const Registration = z.object({
  format_version: z.literal(1),
  deployment: z.string(),
  owner: z.string(),
  /** RFC 3339. */
  expires: z.string(),
  state: z.string(),
  processes: z.array(RegisteredProcess),
});
export type Registration = z.infer<typeof Registration>;

/** Where a deployment's servers lie. Throws on an id that isn't one DNS label, so that no id leads elsewhere. */
export function deploymentFolder(stateDir: string, deploymentId: string): string {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(deploymentId)) throw new Error(`not a deployment id: ${JSON.stringify(deploymentId)}`);
  return join(stateDir, "deployments", deploymentId);
}

/** A service's own folder name: its name, with what a file system could mistake as `%` and hex digits. */
export function serviceFolder(deployment: string, service: string): string {
  const name = encodeURIComponent(service).replace(/^\.+$/, (dots) => "%2E".repeat(dots.length));
  return join(deployment, name);
}

/** Replaces a deployment's registration; a reader sees the one before or this one, whole. */
export async function writeRegistration(folder: string, registration: Registration): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "processes.json");
  await writeFile(`${path}.new`, `${JSON.stringify(registration, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** What was registered for a deployment; null when nothing ever was. */
export async function readRegistration(folder: string): Promise<Registration | null> {
  const path = join(folder, "processes.json");
  const text = await unlessMissing(readFile(path, "utf8"));
  if (text === null) return null;
  const read = Registration.safeParse(jsonOf(text));
  if (read.success) return read.data;
  throw new UserError({
    what: `${path}: not a list of processes that this agent-env wrote`,
    why: z.prettifyError(read.error),
    next: `end what runs from ${folder}, then remove that folder`,
  });
}

/** The registrations of all deployments below a state folder, with their folders. */
export async function allRegistrations(stateDir: string): Promise<readonly { folder: string; registration: Registration }[]> {
  const ids = (await unlessMissing(readdir(join(stateDir, "deployments")))) ?? [];
  const found = await Promise.all(
    ids.sort().map(async (id) => {
      const folder = join(stateDir, "deployments", id);
      const registration = await readRegistration(folder);
      return registration === null ? [] : [{ folder, registration }];
    }),
  );
  return found.flat();
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return null;
    throw error;
  }
}
