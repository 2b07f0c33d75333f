import {
  DATA_OBJECTS_URI,
  type DataAnswer,
  type DataRequest,
  dataError,
  dataResult,
  type Grant,
  handlerFailed,
  isObjectPath,
  issuesText,
  methodNotFound,
  Part,
  readAddParams,
  readDataRequest,
  readGetParams,
} from "@agent-env/protocol";
import { thrownText } from "./agent-env-error.ts";
import type { OptionNames } from "./options.ts";

/** What an environment does with its data. Each handler may be left out: its method is then not served. */
export type DataHandlers = {
  /** Afterwards nothing loaded earlier is left. */
  readonly reset?: () => unknown;
  /** Adds to what is there. */
  readonly add?: (parts: readonly Part[]) => unknown;
  readonly get?: () => readonly Part[] | Promise<readonly Part[]>;
  /** Answers `data/get` when the caller offers a place to write objects to. With it the card lists `data-objects/v1`. */
  readonly getUnderGrant?: (grant: Grant) => readonly Part[] | Promise<readonly Part[]>;
};

export const DATA_HANDLERS: OptionNames<DataHandlers> = { reset: true, add: true, get: true, getUnderGrant: true };

/** The methods that these handlers serve. */
export function dataOperations(handlers: DataHandlers): string[] {
  return [
    ...(handlers.reset === undefined ? [] : ["data/reset"]),
    ...(handlers.add === undefined ? [] : ["data/add"]),
    ...(handlers.get === undefined ? [] : ["data/get"]),
  ];
}

/** Answers one data-plane request, whatever its body holds (3-wire §data). */
export async function answerData(handlers: DataHandlers, body: string): Promise<DataAnswer> {
  const read = readDataRequest(body);
  if ("answer" in read) return read.answer;
  const { id, method } = read.request;
  if (!dataOperations(handlers).includes(method)) return dataError(id, methodNotFound(method));
  if (method === "data/reset") return await failing(id, "reset", async () => void (await handlers.reset?.()));
  return method === "data/add" ? await answerAdd(handlers, read.request) : await answerGet(handlers, read.request);
}

async function answerAdd(handlers: DataHandlers, { id, params }: DataRequest): Promise<DataAnswer> {
  const read = readAddParams(params);
  if ("error" in read) return dataError(id, read.error);
  return await failing(id, "add", async () => void (await handlers.add?.(read.parts)));
}

async function answerGet(handlers: DataHandlers, { id, params }: DataRequest): Promise<DataAnswer> {
  const { get, getUnderGrant } = handlers;
  if (getUnderGrant === undefined) return await failing(id, "get", async () => ({ parts: returnedParts(await get?.()) }));
  const read = readGetParams(params);
  if ("error" in read) return dataError(id, read.error);
  const { grant } = read;
  return await failing(id, "get", async () => ({ parts: returnedParts(await (grant === null ? get?.() : getUnderGrant(grant))) }));
}

async function failing(
  id: unknown,
  operation: "reset" | "add" | "get",
  run: () => Promise<Readonly<Record<string, unknown>> | undefined>,
): Promise<DataAnswer> {
  try {
    return dataResult(id, (await run()) ?? {});
  } catch (thrown) {
    console.error(`data/${operation} failed:`, thrown);
    return dataError(id, handlerFailed(operation, thrownText(thrown)));
  }
}

/** The parts as they go out: absent members are left out, and an object's path stays under its grant. */
function returnedParts(returned: unknown): Readonly<Record<string, unknown>>[] {
  const read = Part.array().safeParse(returned);
  if (!read.success) throw new Error(`the get handler returned no list of parts: ${issuesText(read.error)}`);
  return read.data.map((part) => {
    const written = part.metadata?.[DATA_OBJECTS_URI];
    if (written !== undefined) refuseStrayObject(part, written);
    return part.kind === "file" ? withoutNulls({ ...part, file: withoutNulls(part.file) }) : withoutNulls(part);
  });
}

function refuseStrayObject(part: Part, written: unknown): void {
  const path = typeof written === "object" && written !== null && "path" in written ? written.path : undefined;
  const uri = part.kind === "file" ? part.file["uri"] : undefined;
  if (typeof path !== "string" || path !== uri || !isObjectPath(path)) {
    throw new Error("an object of the get handler isn't named by a path under its grant");
  }
}

function withoutNulls(members: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}
