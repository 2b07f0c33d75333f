import { errorAnswer, INVALID_PARAMS, isJsonObject, type JsonObject, resultAnswer } from "@agent-env/protocol";
import { mayUse } from "../deployment/catalogue.ts";
import type { Deployment, Seen } from "../deployment/deployment.ts";
import { listedItem } from "../deployment/names.ts";
import type { Calls } from "./calls.ts";
import type { ClientEra } from "./channel.ts";
import { KINDS, LIST_KINDS, type ListKind } from "./item-kinds.ts";
import { declaredTasks, taskMethods } from "./task-methods.ts";
import { own, type Reply, type Turn } from "./turn.ts";

type Handler = (turn: Turn, message: JsonObject) => Promise<Reply>;

/** The requests that both eras have, over all servers of a deployment as over one. */
export class Requests {
  readonly #deployment: Deployment;
  readonly #handlers: ReadonlyMap<unknown, Handler>;

  constructor(deployment: Deployment, calls: Calls) {
    this.#deployment = deployment;
    const lists = LIST_KINDS.map((kind): [string, Handler] => [KINDS[kind].method, (turn, message) => this.#list(kind, turn, message)]);
    this.#handlers = new Map<unknown, Handler>([
      ...lists,
      ["tools/call", (turn, message) => calls.tools.reply(turn, message)],
      ["prompts/get", (turn, message) => calls.prompt(turn, message)],
      ["resources/read", (turn, message) => calls.read(turn, message)],
      ["completion/complete", (turn, message) => calls.complete(turn, message)],
      ["tasks/list", (turn, message) => calls.tasks.list(turn, message)],
      ...["get", "result", "update", "cancel"].map((name): [string, Handler] => [
        `tasks/${name}`,
        (turn, message) => calls.task(turn, message),
      ]),
    ]);
  }

  /** Who answers a method; undefined where nobody does: what no server has isn't served. */
  handlerOf(method: unknown, era: ClientEra): Handler | undefined {
    return isDeclared(String(method), era, () => this.capabilities(era)) ? this.#handlers.get(method) : undefined;
  }

  /**
   * What is declared to clients of an era: all that any server has for them. One that was never asked counts as having
   * everything with a list.
   */
  capabilities(era: ClientEra): JsonObject {
    const serving = this.#deployment.serving();
    const declared = serving.map(({ mcp }): JsonObject => mcp.greetingFor(era)?.capabilities ?? { prompts: {}, resources: {} });
    const ofEra = declared.filter((_capabilities, at) => serving[at]?.mcp.eraFor(era) === era);
    const has = (name: string): boolean => declared.some((capabilities) => capabilities[name] !== undefined);
    const canSubscribe = declared.some(({ resources }) => isJsonObject(resources) && resources["subscribe"] === true);
    return {
      tools: { listChanged: true },
      ...(has("resources") ? { resources: { ...(canSubscribe ? { subscribe: true } : {}), listChanged: true } } : {}),
      ...(has("prompts") ? { prompts: { listChanged: true } } : {}),
      ...(has("logging") ? { logging: {} } : {}),
      ...(has("completions") ? { completions: {} } : {}),
      ...declaredTasks(era, ofEra),
    };
  }

  /** What servers want models to know: of one as it is, of several each under its name. */
  instructions(era: ClientEra): string | undefined {
    const serving = this.#deployment.serving();
    const said = serving.flatMap(({ name, mcp }) => {
      const text = mcp.greetingFor(era)?.instructions ?? null;
      return text === null ? [] : [{ name, text }];
    });
    if (serving.length === 1) return said[0]?.text;
    return said.length === 0 ? undefined : said.map(({ name, text }) => `# ${name}\n\n${text}`).join("\n\n");
  }

  /** What a role sees of a list, in order. */
  shown(kind: ListKind, seen: Seen, role: string): JsonObject[] {
    const catalogue = this.#deployment.catalogue(seen);
    if (kind === "resources" || kind === "templates") return catalogue[kind].entries.map(({ item }) => item);
    const { rules, settings } = this.#deployment;
    const entries = kind === "tools" ? catalogue.tools.entries.filter((entry) => mayUse(rules, role, entry)) : catalogue.prompts.entries;
    return entries.map((entry) => listedItem(entry, settings.toolNames));
  }

  async #list(kind: ListKind, turn: Turn, message: JsonObject): Promise<Reply> {
    const { params } = message;
    if (isJsonObject(params) && params["cursor"] !== undefined) return own(errorAnswer(message["id"], INVALID_PARAMS, "unknown cursor"));
    await this.#deployment.freshCatalogue({ seen: turn, kinds: [kind] });
    const { era, capabilities } = turn;
    const isStream = this.#deployment.serving().some(({ mcp }) => mcp.last(kind, mcp.view(era, capabilities))?.isStream === true);
    return { message: resultAnswer(message["id"], { [KINDS[kind].key]: this.shown(kind, turn, turn.role) }), isStream };
  }
}

/** Whether servers have what a method is about. */
function isDeclared(method: string, era: ClientEra, declared: () => JsonObject): boolean {
  if (method.startsWith("tasks/")) return taskMethods(era, declared()).includes(method);
  const capability = CAPABILITY_OF[method];
  return capability === undefined || declared()[capability] !== undefined;
}

/** What must be declared for a method to be served. */
const CAPABILITY_OF: Readonly<Record<string, string>> = {
  "prompts/list": "prompts",
  "prompts/get": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resources",
  "resources/read": "resources",
  "completion/complete": "completions",
};
