import { derivedId, imageSuffix, lastSegment, type Problem } from "@agent-env/protocol";
import type { FolderEntry } from "../bundle/bundle.ts";
import type { Lookup } from "../bundle/lookup.ts";
import { resolveEntity } from "../bundle/resolve.ts";
import type { BuiltImage } from "../bundle/resolved.ts";
import { findType, type Registry } from "../types/registry.ts";
import { type ContextFolder, NO_FILES, putSources } from "./context-folder.ts";
import type { PutMetadata } from "./metadata.ts";
import type { PutEntity } from "./put-entity.ts";

/** An env, agent or image to put, said by options instead of a toml. */
export type PutRequest = {
  readonly kind: "env" | "agent" | "artifact";
  readonly type: string;
  readonly id: string;
  /** The toml's keys, without those of images; what is undefined was left out. */
  readonly config: Readonly<Record<string, unknown>>;
  /** By image key, what each image is built from. */
  readonly contexts: ReadonlyMap<string, ContextFolder>;
  readonly platform: string | null;
  readonly metadata: PutMetadata;
};

/** Makes of options what a toml with the same keys would be. */
export function putOf(request: PutRequest, registry: Registry, lookup: Lookup): PutEntity {
  const { kind, type: name, id, contexts, platform, metadata } = request;
  const type = findType(registry, kind, name);
  if (type === undefined) throw new Error(`there is no ${kind} type ${name} to put`);
  const entry = entryOf(request);
  const builds = [...contexts].map(([key, context]) => builtImage(request, key, context));
  const images = kind === "artifact" ? {} : Object.fromEntries(builds.map((image) => [image.key, image.id]));
  const given = Object.fromEntries(Object.entries(request.config).filter(([, value]) => value !== undefined));
  const config = { ...given, ...images };
  return {
    resolved: resolveEntity({ what: "typed", entry, type, config, builds, problems: [] }, lookup),
    sources: putSources(contexts, NO_FILES),
    platform,
    metadata,
    recorded: ({ key }) => contexts.get(key)?.recorded ?? id,
  };
}

const FOLDERS = { env: "envs", agent: "agents", artifact: "artifacts" } as const;

function entryOf({ kind, type, id }: PutRequest): FolderEntry {
  const folder = FOLDERS[kind];
  return { folder, kind, name: lastSegment(id), id, type, path: id, disk: "", configText: null, tomlName: null, config: {} };
}

/** An artifact is its image; the others have one a key. */
function builtImage({ kind, id }: PutRequest, key: string, { shown, dockerfile }: ContextFolder): BuiltImage {
  const imageId = kind === "artifact" ? id : derivedId(id, imageSuffix(kind, key));
  return { key, id: imageId, dockerfile, label: `${shown} (${dockerfile} image)` };
}

/** `problems` in the words of a command line: the keys of a toml as the options that stand for them. */
export function inOptions(problems: readonly Problem[], options: Readonly<Record<string, string>>): Problem[] {
  const said = (text: string): string =>
    Object.entries(options).reduce((words, [key, option]) => words.replaceAll(new RegExp(`\\b${key}\\b`, "g"), option), text);
  return problems.map((problem) => ({ ...problem, path: said(problem.path), message: said(problem.message) }));
}
