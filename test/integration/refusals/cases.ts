import { CHECK_AGENTS, CHECK_SKILLS, CHECK_STEPS } from "./check-agent-cases.ts";
import { CHECK_ARTIFACTS, CHECK_FILES } from "./check-artifact-cases.ts";
import { CHECK_ENV_KEYS, CHECK_ENV_TOGETHER, CHECK_MULTIS, CHECK_NAMES, CHECK_PROVIDERS } from "./check-env-cases.ts";
import { CHECK_TASKS, CHECK_TOGETHER } from "./check-task-cases.ts";
import { PARSE_CONFIG, PARSE_TOGETHER } from "./parse-config-cases.ts";
import { PARSE_FOLDER, PARSE_NAMES } from "./parse-name-cases.ts";
import type { Refusal } from "./refusal.ts";
import { RESOLVE_REFERENCES, RESOLVE_STEPS, RESOLVE_TOGETHER } from "./resolve-reference-cases.ts";
import { RESOLVE_IMAGES, RESOLVE_TYPES } from "./resolve-type-cases.ts";
import { RUN_PREFLIGHT, RUN_SELECTION, type RunRefusal } from "./run-cases.ts";

export { PLUGIN } from "./plugin-cases.ts";
export { STORE } from "./store-cases.ts";

/** What a check finds, by stage. */
export const CHECKED: readonly { readonly group: string; readonly cases: readonly Refusal[] }[] = [
  { group: "the folder", cases: PARSE_FOLDER },
  { group: "names, ids and types", cases: PARSE_NAMES },
  { group: "config files and content", cases: PARSE_CONFIG },
  { group: "several while parsing", cases: PARSE_TOGETHER },
  { group: "types that aren't there", cases: RESOLVE_TYPES },
  { group: "images and Dockerfiles", cases: RESOLVE_IMAGES },
  { group: "references", cases: RESOLVE_REFERENCES },
  { group: "dependencies", cases: RESOLVE_STEPS },
  { group: "several while resolving", cases: RESOLVE_TOGETHER },
  { group: "keys and values of envs", cases: CHECK_ENV_KEYS },
  { group: "providers", cases: CHECK_PROVIDERS },
  { group: "names of servers", cases: CHECK_NAMES },
  { group: "multis", cases: CHECK_MULTIS },
  { group: "several of envs", cases: CHECK_ENV_TOGETHER },
  { group: "files and links", cases: CHECK_FILES },
  { group: "artifacts", cases: CHECK_ARTIFACTS },
  { group: "agents", cases: CHECK_AGENTS },
  { group: "skills", cases: CHECK_SKILLS },
  { group: "tasks and steps", cases: CHECK_TASKS },
  { group: "steps of every type", cases: CHECK_STEPS },
  { group: "several at once", cases: CHECK_TOGETHER },
];

/** What only a run finds. */
export const RUN: readonly RunRefusal[] = [...RUN_SELECTION, ...RUN_PREFLIGHT];
