import { foldName, type Problem, type ProblemCode } from "@agent-env/protocol";
import { type EvalEntry, KIND_OF, type Step, type TaskEntry } from "./bundle.ts";
import { readJsonFile, readTomlFile } from "./config-file.ts";
import type { Item } from "./listing.ts";
import type { ParsedEntries } from "./parse.ts";
import { declaredIdentity, nameProblems, withoutIdentity } from "./parse-entry.ts";
import { shownText, shownValue } from "./shown.ts";
import { unknownKeys } from "./unknown-names.ts";

const SUFFIX = { tasks: ".json", evals: ".toml" } as const;

/** Reads one file under `tasks/` or `evals/`. One with another suffix is ignored. */
export function parseFileEntry(folder: "tasks" | "evals", item: Item, idRoot: string): ParsedEntries {
  const suffix = SUFFIX[folder];
  const path = shownText(item.path);
  if (item.what === "folder") {
    const right = path.endsWith(suffix) ? path : `${path}${suffix}`;
    return refused("task-folder", path, `folders aren't read in ${folder}/: write a file ${right}`);
  }
  if (!item.name.endsWith(suffix)) {
    if (!foldName(item.name).endsWith(suffix)) return { entries: [], ignored: [item.path], problems: [] };
    const right = `${item.name.slice(0, -suffix.length)}${suffix}`;
    return refused("misspelt", path, `rename it to ${shownText(right)}: names are case-sensitive`);
  }
  const name = item.name.slice(0, -suffix.length);
  return folder === "tasks" ? parseTask(item, name, idRoot) : parseEval(item, name, idRoot);
}

function refused(code: ProblemCode, path: string, message: string): ParsedEntries {
  return { entries: [], ignored: [], problems: [{ code, path, message }] };
}

function parseTask(item: Item, name: string, idRoot: string): ParsedEntries {
  const path = shownText(item.path);
  const problems = nameProblems("tasks", name, item.path);
  const read = readJsonFile(item.disk);
  if ("problem" in read) return { entries: [], ignored: [], problems: [...problems, { code: "bad-config", path, message: read.problem }] };
  const { steps, wrong } = stepsOf(read.value);
  problems.push(...wrong.map((message): Problem => ({ code: "task-shape", path, message })));
  const identity = declaredIdentity({ folder: "tasks", name, idRoot, config: {}, at: path, path, defaultType: "task" });
  problems.push(...identity.problems);
  if (problems.length > 0) return { entries: [], ignored: [], problems };
  const entry: TaskEntry = {
    folder: "tasks",
    kind: KIND_OF.tasks,
    name,
    id: identity.id,
    type: identity.type,
    path: item.path,
    disk: item.disk,
    configText: read.text,
    steps,
  };
  return { entries: [entry], ignored: [], problems: [] };
}

function stepsOf(value: unknown): { readonly steps: Step[]; readonly wrong: readonly string[] } {
  const shape = "a task is a JSON array of steps, objects with the texts `id` and `type`";
  if (!Array.isArray(value)) return { steps: [], wrong: [`${shape}; found ${shownValue(value)}`] };
  const items: unknown[] = value;
  const wrong = items.flatMap((item, index) => (isStep(item) ? [] : [`${shape}; step ${index + 1} is ${shownValue(item)}`]));
  return { steps: items.filter(isStep), wrong };
}

function isStep(value: unknown): value is Step {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return "id" in value && isText(value.id) && "type" in value && isText(value.type);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

const EVAL_KEYS = ["tasks", "type", "id"];

function parseEval(item: Item, name: string, idRoot: string): ParsedEntries {
  const path = shownText(item.path);
  const problems: Problem[] = nameProblems("evals", name, item.path);
  const read = readTomlFile(item.disk);
  if ("problem" in read) return { entries: [], ignored: [], problems: [...problems, { code: "bad-config", path, message: read.problem }] };
  const config = read.value;
  const unknown = Object.keys(config).filter((key) => !EVAL_KEYS.includes(key));
  const shape = (message: string): void => void problems.push({ code: "eval-shape", path, message });
  if (unknown.length > 0) shape(unknownKeys(unknown, "an eval", EVAL_KEYS));
  if (!Array.isArray(config["tasks"]) || config["tasks"].length === 0) {
    shape(`tasks: expected a list of at least one task, and found ${config["tasks"] === undefined ? "none" : shownValue(config["tasks"])}`);
  }
  const identity = declaredIdentity({ folder: "evals", name, idRoot, config, at: path, path, defaultType: "eval" });
  problems.push(...identity.problems);
  if (problems.length > 0) return { entries: [], ignored: [], problems };
  const { id, type } = identity;
  const entry: EvalEntry = {
    folder: "evals",
    kind: KIND_OF.evals,
    name,
    id,
    type,
    path: item.path,
    disk: item.disk,
    configText: read.text,
    config: withoutIdentity(config),
  };
  return { entries: [entry], ignored: [], problems: [] };
}
