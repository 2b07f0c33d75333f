import { idSegmentProblem, lastSegment, localIdProblem, MAX_AUTHORED_ID_BYTES, type Problem, utf8Length } from "@agent-env/protocol";
import type { KindFolder } from "./bundle.ts";
import { shownText, shownValue } from "./shown.ts";
import type { TomlTable, TomlValue } from "./toml.ts";

/** Problems of an entry's name, as part of its id (4-bundle §2.2). */
export function nameProblems(folder: KindFolder, name: string, path: string): Problem[] {
  const reason = idSegmentProblem(name) ?? doubleUnderscore(folder, name);
  return reason === null
    ? []
    : [{ code: "bad-name", path: shownText(path), message: `its name can't be part of an id: ${reason}; rename it` }];
}

function doubleUnderscore(folder: KindFolder, name: string): string | null {
  const isArtifact = folder === "artifacts" || folder === "skills";
  return isArtifact && name.includes("__") ? '"__" is kept for the ids of what is made along with an artifact' : null;
}

export type Identity = { readonly id: string; readonly type: string; readonly problems: readonly Problem[] };

/** The id and type of an entry that a toml may declare them for. `at` is where the toml's problems start. */
export function declaredIdentity(entry: {
  readonly folder: KindFolder;
  readonly name: string;
  readonly idRoot: string;
  readonly config: TomlTable;
  readonly at: string;
  readonly path: string;
  readonly defaultType: string;
}): Identity {
  const { folder, name, idRoot, config, at, path, defaultType } = entry;
  const id = config["id"] === undefined ? `${idRoot}/${name}` : config["id"];
  const type = config["type"] ?? defaultType;
  const problems: Problem[] = [];
  const idReason = config["id"] === undefined ? lengthReason(textOf(id)) : declaredIdReason(folder, id);
  if (idReason !== null) problems.push({ code: "bad-id", path: config["id"] === undefined ? path : at, message: idReason });
  if (typeof type !== "string" || type.trim() === "") {
    problems.push({ code: "bad-type", path: at, message: `type: expected the name of a type, and found ${shownValue(type)}` });
  }
  return { id: textOf(id), type: textOf(type), problems };
}

/** A value that should be a text; one that isn't has been refused by then. */
function textOf(value: TomlValue): string {
  return typeof value === "string" ? value : "";
}

function declaredIdReason(folder: KindFolder, id: TomlValue | undefined): string | null {
  if (typeof id !== "string") return `id: expected a text that starts with "@local/", and found ${shownValue(id)}`;
  const reason = localIdProblem(id) ?? doubleUnderscore(folder, lastSegment(id));
  return reason === null ? null : `id: ${shownValue(id)} is no legal id: ${reason}`;
}

function lengthReason(id: string): string | null {
  const bytes = utf8Length(id);
  return bytes <= MAX_AUTHORED_ID_BYTES
    ? null
    : `its id has ${bytes} bytes, and ${MAX_AUTHORED_ID_BYTES} is the most: shorten the name or the path above it`;
}

/** A toml's own keys: without those that every toml may have. */
export function withoutIdentity(config: TomlTable): TomlTable {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== "id" && key !== "type"));
}
