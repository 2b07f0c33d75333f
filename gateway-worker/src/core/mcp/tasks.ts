import { errorAnswer, INVALID_PARAMS, isJsonObject, type JsonObject, MCP_META_PREFIX, resultAnswer } from "@agent-env/protocol";
import type { Deployment } from "../deployment/deployment.ts";
import { within } from "../timing.ts";
import type { Asked } from "./asking-back.ts";
import type { Outcome } from "./link.ts";
import { readPages } from "./pages.ts";
import type { Task } from "./task-book.ts";
import { own, type Reply, type Turn } from "./turn.ts";

/** Nobody waits longer for a server's part of a list. */
const LIST_MS = 5_000;
const RELATED_META_KEY = `${MCP_META_PREFIX}related-task`;

/** The tasks that servers have issued to callers: each is known to the caller whose call made it, and to nobody else. */
export class Tasks {
  readonly #deployment: Deployment;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** What came of a tool's call as its caller sees it. If that is a task, it is remembered whose it is. */
  issued(turn: Turn, source: string, params: JsonObject, asked: Asked): Asked {
    if (asked === null || !("reply" in asked)) return asked;
    const { result } = asked.reply;
    const issued = isJsonObject(result) ? issuedTask(turn, params, result) : null;
    if (issued === null) return asked;
    const { caller: lane, capabilities } = turn;
    const task = this.#deployment.tasks.issued({ ...issued, caller: taskOwner(turn), server: source, lane, capabilities });
    return { ...asked, reply: shownReply(task, asked.reply) };
  }

  /** The task that a request names; or why there is none. */
  named(turn: Turn, params: unknown): Task | string {
    const id = isJsonObject(params) ? params["taskId"] : undefined;
    if (typeof id !== "string") return "params.taskId must be a string";
    const task = this.#deployment.tasks.find(taskOwner(turn), id);
    return task !== null && this.#isServed(task) ? task : `Task not found: ${id}`;
  }

  /** What a server said of a task, as its caller sees it. */
  answered(task: Task, outcome: Outcome): Outcome {
    const result = "reply" in outcome ? outcome.reply["result"] : undefined;
    if (!("reply" in outcome) || !isJsonObject(result)) return outcome;
    const ttlMs = result["taskId"] === task.id ? ttlOf(result) : undefined;
    this.#deployment.tasks.renew(task, ttlMs === undefined ? task.ttlMs : ttlMs);
    return { ...outcome, reply: shownReply(task, outcome.reply) };
  }

  /** The reply to a `tasks/list`: of each server what it says of this caller's own tasks, in one page. */
  async list(turn: Turn, message: JsonObject): Promise<Reply> {
    const { id, params } = message;
    if (isJsonObject(params) && params["cursor"] !== undefined) return own(errorAnswer(id, INVALID_PARAMS, "unknown cursor"));
    const lists = await Promise.all(this.#deployment.serving().map(({ name }) => this.#listOf(turn, name)));
    return own(resultAnswer(id, { tasks: lists.flat() }));
  }

  /** A server's word of a task's new state, as the caller sees it; null where the task isn't the caller's. */
  shownStatus(caller: string, source: string, message: JsonObject): JsonObject | null {
    const { params } = message;
    if (!isJsonObject(params)) return null;
    const task = this.#deployment.tasks.of(caller, source).find(({ id }) => id === params["taskId"]);
    return task === undefined ? null : { ...message, params: { ...params, taskId: task.shown } };
  }

  #isServed({ server }: Task): boolean {
    return this.#deployment.serving().some(({ name }) => name === server);
  }

  /** One that is away or slow has no say in the list, and none that has no tasks of this caller's. */
  async #listOf(turn: Turn, server: string): Promise<JsonObject[]> {
    const mcp = this.#deployment.mcpOf(server);
    const tasks = this.#deployment.tasks.of(taskOwner(turn), server);
    if (tasks.length === 0 || mcp.eraFor(turn.era) !== "legacy") return [];
    if (mcp.link.state.status !== "up") {
      mcp.link.look();
      return [];
    }
    const lanes = new Map(tasks.map(({ lane, capabilities }) => [lane, capabilities]));
    const reading = Promise.all([...lanes].map(([lane, capabilities]) => this.#read(server, lane, capabilities)));
    const listed = (await within(reading, LIST_MS)) ?? [];
    return listed.flat().flatMap((item) => {
      const task = tasks.find(({ id }) => id === item["taskId"]);
      return task === undefined ? [] : [{ ...item, taskId: task.shown }];
    });
  }

  async #read(server: string, lane: string, capabilities: JsonObject): Promise<JsonObject[]> {
    const { lanes, link } = this.#deployment.mcpOf(server);
    const taken = lanes.take(lane, capabilities);
    const items: JsonObject[] = [];
    try {
      await readPages({
        method: "tasks/list",
        key: "tasks",
        items: "tasks",
        ask: (message) => link.request(taken.session, { message, silenceMs: LIST_MS, heard: () => undefined }, true),
        take: (listed) => items.push(...listed.filter(isJsonObject)),
      });
      return items;
    } finally {
      taken.give();
    }
  }
}

/** Whose the tasks of a turn's calls are: its session's, or where there is none its caller's. */
function taskOwner(turn: Turn): string {
  return turn.session?.key ?? turn.owner;
}

/** The task that a call has become. A legacy client has asked for one; a modern one has said that it takes one. */
function issuedTask(turn: Turn, params: JsonObject, result: JsonObject): { id: string; ttlMs: number | null } | null {
  const isLegacy = turn.era === "legacy";
  const isTask = isLegacy ? isJsonObject(params["task"]) : result["resultType"] === "task";
  const task = isLegacy ? result["task"] : result;
  if (!isTask || !isJsonObject(task) || typeof task["taskId"] !== "string") return null;
  return { id: task["taskId"], ttlMs: ttlOf(task) ?? null };
}

/** For how long a server keeps a task; undefined where it says nothing of that. */
function ttlOf(task: JsonObject): number | null | undefined {
  const ttl = task["ttl"] ?? task["ttlMs"];
  if (typeof ttl === "number" && ttl >= 0) return ttl;
  return Object.hasOwn(task, "ttl") || Object.hasOwn(task, "ttlMs") ? null : undefined;
}

/** A reply in which a task has the id that its caller knows. */
function shownReply({ id, shown }: Task, reply: JsonObject): JsonObject {
  const { result } = reply;
  return id === shown || !isJsonObject(result) ? reply : { ...reply, result: renamed(result, id, shown) };
}

function renamed(value: JsonObject, id: string, shown: string): JsonObject {
  const { taskId, task, _meta } = value;
  const related = isJsonObject(_meta) ? _meta[RELATED_META_KEY] : undefined;
  return {
    ...value,
    ...(taskId === id ? { taskId: shown } : {}),
    ...(isJsonObject(task) ? { task: renamed(task, id, shown) } : {}),
    ...(isJsonObject(_meta) && isJsonObject(related) ? { _meta: { ..._meta, [RELATED_META_KEY]: renamed(related, id, shown) } } : {}),
  };
}
