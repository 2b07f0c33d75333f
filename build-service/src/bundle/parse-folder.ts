import type { Problem } from "@agent-env/protocol";
import { foldName } from "@agent-env/protocol";
import { type FolderEntry, KIND_OF } from "./bundle.ts";
import { readTomlFile } from "./config-file.ts";
import { type Item, listFolder, misspeltProblems, twinProblems } from "./listing.ts";
import type { ParsedEntries } from "./parse.ts";
import { declaredIdentity, nameProblems, withoutIdentity } from "./parse-entry.ts";
import { shownText } from "./shown.ts";
import type { TomlTable } from "./toml.ts";

type Folder = FolderEntry["folder"];

/** The config file of each folder kind. */
export const TOML_OF: Readonly<Record<Folder, string | null>> = {
  envs: "env.toml",
  agents: "agent.toml",
  artifacts: "artifact.toml",
  skills: null,
};

/** Reads one folder under `envs/`, `agents/`, `artifacts/` or `skills/`. A file there is ignored. */
export function parseFolderEntry(folder: Folder, item: Item, idRoot: string): ParsedEntries {
  if (item.what === "file") return { entries: [], ignored: [item.path], problems: [] };
  const { name, path, disk } = item;
  const tomlName = TOML_OF[folder];
  const listing = listFolder(disk, path);
  const { items } = listing;
  const problems = [...nameProblems(folder, name, path)];
  const unreadable = listing.problems.filter((problem) => decidesAll(problem, path));
  if (unreadable.length > 0) return { entries: [], ignored: [], problems: [...problems, ...unreadable] };
  const toml = tomlName === null ? undefined : items.find((child) => child.name === tomlName);
  const { config, configText } = tomlConfig(toml, path, problems);
  problems.push(...spellingProblems(folder, items, config), ...contentProblems(folder, items, path, config));
  const at = tomlName === null ? path : `${path}: ${tomlName}`;
  const identity = declaredIdentity({ folder, name, idRoot, config, at, path, defaultType: defaultType(folder, items, tomlName, config) });
  problems.push(...identity.problems);
  if (problems.length > 0) return { entries: [], ignored: [], problems };
  const { id, type } = identity;
  const entry = {
    folder,
    kind: KIND_OF[folder],
    name,
    id,
    type,
    path,
    disk,
    tomlName,
    configText,
    config: withoutIdentity(config),
  };
  return { entries: [entry], ignored: [], problems: [] };
}

/** Whether what can't be read is the folder itself, or a file that says what the entry is. All else is told of by the check. */
function decidesAll(problem: Problem, path: string): boolean {
  const tomls = Object.values(TOML_OF).filter((toml) => toml !== null);
  return (
    problem.path === shownText(path) || ["Dockerfile", "SKILL.md", ...tomls].some((name) => problem.path === shownText(`${path}/${name}`))
  );
}

function tomlConfig(toml: Item | undefined, path: string, problems: Problem[]): Pick<FolderEntry, "config" | "configText"> {
  const none = { config: {}, configText: null };
  if (toml === undefined) return none;
  if (toml.what === "folder") {
    problems.push({ code: "special", path: shownText(toml.path), message: "is a folder where a file belongs" });
    return none;
  }
  const read = readTomlFile(toml.disk);
  if ("value" in read) return { config: read.value, configText: read.text };
  problems.push({ code: "bad-config", path: `${shownText(path)}: ${toml.name}`, message: read.problem });
  return none;
}

/** A reserved name in another spelling is refused where the right one would decide something. */
function spellingProblems(folder: Folder, items: readonly Item[], config: TomlTable): Problem[] {
  const decides = decidingNames(folder, items, config);
  const alike = items.filter(({ name }) => decides.some((right) => foldName(right) === foldName(name)));
  return [...twinProblems(alike), ...misspeltProblems(alike, decides)];
}

function decidingNames(folder: Folder, items: readonly Item[], config: TomlTable): string[] {
  if (folder === "skills") return ["SKILL.md"];
  const toml = TOML_OF[folder] ?? "";
  if (folder !== "artifacts") return [toml, "Dockerfile"];
  const isDeclared = typeof config["type"] === "string" && config["type"] !== "docker_image";
  return [toml, ...(isDeclared ? [] : ["Dockerfile"]), ...(isImageFolder(items, config) ? [] : ["SKILL.md"])];
}

/** Whether an artifact's folder is an image, and all in it, a skill too, part of that. */
function isImageFolder(items: readonly Item[], config: TomlTable): boolean {
  return config["type"] === undefined ? items.some(({ name }) => name === "Dockerfile") : config["type"] === "docker_image";
}

function contentProblems(folder: Folder, items: readonly Item[], path: string, config: TomlTable): Problem[] {
  const has = (name: string): boolean => items.some((item) => item.name === name);
  const shown = shownText(path);
  switch (folder) {
    case "envs":
    case "agents": {
      const toml = TOML_OF[folder] ?? "";
      if (has("Dockerfile") || has(toml)) return [];
      return [{ code: "nothing-to-build", path: shown, message: `needs a Dockerfile or ${toml}` }];
    }
    case "skills":
      return has("SKILL.md") ? [] : [{ code: "no-skill-md", path: shown, message: "needs SKILL.md" }];
    case "artifacts": {
      if (config["type"] === "skill") {
        return [
          { code: "is-a-skill", path: shown, message: "is of type skill, which no artifact.toml can have: move the folder to skills/" },
        ];
      }
      if (has("SKILL.md") && !isImageFolder(items, config)) {
        return [{ code: "is-a-skill", path: shown, message: "holds SKILL.md, so it is a skill: move the folder to skills/" }];
      }
      if (items.some(({ name }) => name !== "artifact.toml") || (has("artifact.toml") && namesContent(config))) return [];
      return [{ code: "empty", path: shown, message: "has nothing in it (artifact.toml and what the system leaves behind don't count)" }];
    }
  }
}

/** Whether a toml may name all that an artifact is made of. */
function namesContent(config: TomlTable): boolean {
  return config["type"] !== undefined || config["ref"] !== undefined;
}

function defaultType(folder: Folder, items: readonly Item[], tomlName: string | null, config: TomlTable): string {
  if (folder === "envs") return "mcp_server";
  if (folder === "agents") return "a2a_agent";
  if (folder === "skills") return "skill";
  const content = items.filter(({ name }) => name !== tomlName);
  if (config["ref"] !== undefined || content.some(({ name }) => name === "Dockerfile")) return "docker_image";
  return isOneFile(content) ? "file" : "file_artifact_universe";
}

/** Whether a folder holds exactly one file, at whatever depth. */
function isOneFile(items: readonly Item[]): boolean {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) return false;
  return item.what === "file" || isOneFile(listFolder(item.disk, item.path).items);
}
