import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { lastSegment, Refused } from "@agent-env/protocol";
import { type FolderEntry, KIND_FOLDERS } from "../bundle/bundle.ts";
import { entrySources } from "../bundle/entry-sources.ts";
import { parseFolderEntry } from "../bundle/parse-folder.ts";
import { resolveEntry } from "../bundle/resolve.ts";
import type { Registry } from "../types/registry.ts";
import { lookupHere } from "./bundle-here.ts";
import { openFolder, putSources, recordedName } from "./context-folder.ts";
import type { PutEntity } from "./put-entity.ts";

/** A folder read as one under `artifacts/`, or `skills/` where it holds a SKILL.md, to be put under `id`. Throws `Refused` for one that is none. */
export function artifactFolder(put: { readonly folder: string; readonly id: string; readonly cwd: string }, registry: Registry): PutEntity {
  const disk = openFolder(resolve(put.cwd, put.folder), put.folder, "FOLDER");
  const entry = entryOf(disk, put.folder, put.id);
  const resolved = resolveEntry(entry, lookupHere([disk, put.cwd]), registry);
  if (resolved.what !== "entity") throw new Refused(resolved.problems);
  const own = entrySources(bundleFolder(disk), entry);
  const context = { disk, shown: put.folder, recorded: recordedName(disk), dockerfile: "Dockerfile" };
  const contexts = new Map(resolved.builds.map(({ key }) => [key, context]));
  return {
    resolved,
    sources: putSources(contexts, () => own.files()),
    platform: null,
    metadata: {},
    recorded: () => context.recorded,
  };
}

function entryOf(disk: string, shown: string, id: string): FolderEntry {
  const isSkill = existsSync(join(disk, "SKILL.md")) && !existsSync(join(disk, "Dockerfile")) && !existsSync(join(disk, "artifact.toml"));
  // The name and root are stand-ins: the id is given.
  const item = { name: "put", path: shown, disk, what: "folder" } as const;
  const { entries, problems } = parseFolderEntry(isSkill ? "skills" : "artifacts", item, "@local/put");
  const [entry] = entries;
  if (entry === undefined || entry.folder === "tasks" || entry.folder === "evals") throw new Refused(problems);
  return { ...entry, id, name: lastSegment(id) };
}

/** Links may lead anywhere in the bundle that the folder belongs to, else only inside the folder itself. */
function bundleFolder(disk: string): string {
  const above = dirname(disk);
  return KIND_FOLDERS.some((kind) => kind === basename(above)) ? dirname(above) : disk;
}
