import { readdirSync, realpathSync, statSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { derivedId, foldName, imageSuffix, type Problem } from "@agent-env/protocol";
import { defaultDockerfile, imageKeys } from "../types/image-keys.ts";
import type { BundleType, Config } from "../types/type.ts";
import { type FolderEntry, tomlPath } from "./bundle.ts";
import type { BuiltImage } from "./resolved.ts";
import { listed, shownText, shownValue } from "./shown.ts";
import { isTable, type TomlTable } from "./toml.ts";

export type ResolvedImages = { readonly config: Config; readonly builds: readonly BuiltImage[]; readonly problems: readonly Problem[] };

/** Says for each image key of an entry what is built for it, and puts the built image's id in its place (B2). */
export function resolveImages(entry: FolderEntry, type: BundleType): ResolvedImages {
  if (type.writes === "image") return ownImage(entry);
  const config: Record<string, unknown> = { ...entry.config };
  const builds: BuiltImage[] = [];
  const problems: Problem[] = [];
  for (const key of imageKeys(type)) {
    const chosen = chosenDockerfile(entry, key);
    if (chosen === null) continue;
    if (Array.isArray(chosen)) {
      problems.push(...chosen.map(({ code, message }) => ({ code, path: `${shownText(entry.path)}: ${key}`, message })));
      continue;
    }
    const id = derivedId(entry.id, imageSuffix(entry.kind === "agent" ? "agent" : "env", key));
    builds.push({ key, id, dockerfile: chosen.dockerfile, label: `${entry.path} (${chosen.dockerfile} image)` });
    config[key] = id;
  }
  return { config, builds, problems };
}

const REGISTRY_IMAGE = "an image of a registry isn't supported yet";

/** An image folder: one image, under the folder's own id. */
function ownImage(entry: FolderEntry): ResolvedImages {
  const { path, id } = entry;
  const { ref, ...config } = entry.config;
  if (ref !== undefined) {
    const message = `ref: ${REGISTRY_IMAGE}: build it from a Dockerfile in this folder`;
    return { config, builds: [], problems: [{ code: "image-ref", path: shownText(tomlPath(entry)), message }] };
  }
  const build = { key: "image", id, dockerfile: "Dockerfile", label: `${path} (Dockerfile image)` };
  const found = fileIn(entry.disk, "Dockerfile");
  if (found !== null) return { config, builds: [build], problems: [] };
  const message = "there is no Dockerfile in this folder to build: an artifact of type docker_image needs one";
  return { config, builds: [], problems: [{ code: "image-file", path: shownText(path), message }] };
}

type Refusal = Pick<Problem, "code" | "message">;

/** The Dockerfile to build for a key, or all that is wrong with it; null when the key names an image, or stands for no file and is left out. */
function chosenDockerfile(entry: FolderEntry, key: string): { readonly dockerfile: string } | Refusal[] | null {
  const value = entry.config[key];
  if (value === undefined) {
    const dockerfile = defaultDockerfile(key);
    return dockerfile === null ? null : existing(entry, dockerfile, "add it, or name another with { dockerfile = … } or an image's id");
  }
  if (typeof value === "string") return null;
  if (!isTable(value)) return [badValue(value)];
  const main = ["dockerfile", "ref"].find((candidate) => candidate in value);
  if (main === undefined) return "artifact" in value ? null : [badValue(value)];
  const chosen = mainValue(entry, value, main);
  const others = Object.keys(value).filter((other) => other !== main);
  if (others.length === 0) return chosen;
  const message = `takes ${main} and nothing beside it, and has ${listed(others)}: remove ${others.length === 1 ? "it" : "them"}`;
  return [{ code: "image-keys", message }, ...(Array.isArray(chosen) ? chosen : [])];
}

/** What the key that a table is about says: `dockerfile` or `ref`. */
function mainValue(entry: FolderEntry, value: TomlTable, main: string): { readonly dockerfile: string } | Refusal[] {
  const { dockerfile } = value;
  if (main === "ref")
    return [{ code: "image-ref", message: `${REGISTRY_IMAGE}: build one with { dockerfile = … }, or name one of the bundle or the store` }];
  if (typeof dockerfile !== "string" || dockerfile === "") return [badValue(value)];
  return existing(entry, dockerfile, "name a file of this folder, relative to it");
}

function badValue(value: unknown): Refusal {
  const forms =
    '{ dockerfile = "<path in this folder>" }, "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }';
  return { code: "bad-ref", message: `expected ${forms}, and found ${shownValue(value)}` };
}

function existing(entry: FolderEntry, written: string, next: string): { readonly dockerfile: string } | Refusal[] {
  const dockerfile = fileIn(entry.disk, written);
  if (dockerfile !== null) return { dockerfile };
  const message = `there is no file ${shownValue(written)} in this folder to build: ${insteadOf(entry.disk, written) ?? next}`;
  return [{ code: "image-file", message }];
}

/** What there is in the place of a file that can't be built. */
function insteadOf(folder: string, written: string): string | null {
  const near = readdirSync(folder).find((raw) => foldName(raw) === foldName(written));
  if (near === undefined) return null;
  const isExact = near.normalize("NFC") === written.normalize("NFC");
  return isExact ? "what has that name is a folder, or leads out of this one" : `${shownText(near)} is there, and names are case-sensitive`;
}

/** The path of a regular file in `folder`, normalised and in NFC; null for one that isn't there or leads out. */
export function fileIn(folder: string, written: string): string | null {
  const path = posix.normalize(written).normalize("NFC");
  if (posix.isAbsolute(path) || path === ".." || path.startsWith("../")) return null;
  const disk = path.split("/").reduce<string | null>((above, part) => (above === null ? null : childOf(above, part)), folder);
  if (disk === null || !statSync(disk, { throwIfNoEntry: false })?.isFile()) return null;
  return realpathSync.native(disk).startsWith(`${realpathSync.native(folder)}${sep}`) ? path : null;
}

/** A folder's item of that name, however the disk spells its letters. */
function childOf(folder: string, name: string): string | null {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return null;
  const found = readdirSync(folder).find((raw) => raw.normalize("NFC") === name);
  return found === undefined ? null : join(folder, found);
}
