import { isJsonObject, type JsonObject, LEGACY_VERSIONS } from "@agent-env/protocol";

const MAX_LENGTH = 160;
const ASKABLE = ["roots", "sampling", "elicitation"];
/** By this extension (SEP-2663) a modern client can be answered with a task. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** A client that can't be asked anything. */
export const NOTHING: JsonObject = {};

/**
 * What of a client's declared capabilities is kept, and declared to servers in its name: all, or where that is long for a
 * session id only what it can be asked for, and whether it takes tasks.
 */
export function keptCapabilities(declared: unknown): JsonObject {
  if (!isJsonObject(declared)) return NOTHING;
  if (JSON.stringify(declared).length <= MAX_LENGTH) return declared;
  const { extensions } = declared;
  const takesTasks = isJsonObject(extensions) && extensions[TASKS_EXTENSION] !== undefined;
  return {
    ...Object.fromEntries(ASKABLE.filter((key) => declared[key] !== undefined).map((key) => [key, shortened(declared[key])])),
    ...(takesTasks ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
  };
}

/**
 * What a client of a legacy revision can be asked for: elicitation came with 2025-06-18, its URL mode with 2025-11-25. A modern
 * server's tasks are none that it could read.
 */
export function askableIn(version: string, declared: JsonObject): JsonObject {
  const capabilities = withoutTasks(declared);
  const age = LEGACY_VERSIONS.map(String).indexOf(version);
  const { elicitation, ...older } = capabilities;
  if (elicitation === undefined || age === 0) return capabilities;
  return age === 1 ? { ...older, elicitation: {} } : older;
}

function withoutTasks(declared: JsonObject): JsonObject {
  const { extensions, ...rest } = declared;
  if (!isJsonObject(extensions) || extensions[TASKS_EXTENSION] === undefined) return declared;
  const { [TASKS_EXTENSION]: _tasks, ...others } = extensions;
  return { ...rest, extensions: others };
}

/** One text for one set of capabilities, whatever the order of its keys. */
export function capabilityKey(capabilities: JsonObject): string {
  return capabilities === NOTHING ? "{}" : JSON.stringify(sorted(capabilities));
}

function shortened(capability: unknown): JsonObject {
  const flags = Object.entries(isJsonObject(capability) ? capability : {}).filter(([key]) => key.length < 16);
  return Object.fromEntries(flags.slice(0, 3).map(([key, value]) => [key, value === true ? true : {}]));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, part]) => [key, sorted(part)]),
  );
}
