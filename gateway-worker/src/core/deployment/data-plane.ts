import {
  DATA_OBJECTS_URI,
  DATA_PLANE_PATH,
  type DataError,
  dataError,
  dataResult,
  invalidParams,
  isJsonObject,
  type JsonObject,
  joined,
  METHOD_NOT_FOUND,
  pathOnServer,
  ROLE_HEADER,
  receivedJson,
} from "@agent-env/protocol";
import { BodyTooLarge, textOf } from "../body.ts";
import { watchedExchange } from "../observe/http-call.ts";
import { HOPS_FIELD } from "../route.ts";
import { Fault, type Field, type UpRequest } from "../seam.ts";
import { timeFields } from "../universe-time.ts";
import { serviceKey } from "../view.ts";
import { type Backing, ownOrigins } from "./backing.ts";
import type { Deployment } from "./deployment.ts";
import { BROWSER_NAME, environmentOf, type Labelled, labelled, unlabelled } from "./part-labels.ts";

/** A load of much data may take an hour. */
const LOAD_MS = 3_600_000;
const METHODS = ["data/reset", "data/add", "data/get"];

/** A child that serves a data plane. */
type Target = { readonly key: string; readonly name: string; readonly url: string; readonly takesGrants: boolean };

export type PlaneAnswer = { readonly status: number; readonly type: string; readonly body: string };
type Outcome = { readonly result: JsonObject } | { readonly failure: string };

/** `POST /agentenv` at the gateway: the data planes of its servers as one (3-wire §plane). */
export class DataPlane {
  readonly #deployment: Deployment;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** The answer to a body; HTTP 200 whatever it says, unless the one target says otherwise. */
  async answer(role: string, body: string): Promise<PlaneAnswer> {
    const read = receivedJson(body);
    if ("problem" in read) return shown(dataError(null, { code: -32700, message: "Parse error" }));
    const message = read.value;
    if (!isJsonObject(message)) return shown(dataError(null, { code: -32600, message: "Invalid request" }));
    const id = message["id"] ?? null;
    const method = String(message["method"]);
    if (!METHODS.includes(method)) return shown(dataError(id, { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` }));
    const targets = await this.#targets();
    const [only] = targets;
    if (only === undefined) return shown(dataError(id, failed(`${method}: no server of this environment serves a data plane`)));
    if (targets.length === 1) return await this.#forward(role, only, id, method, body);
    const params = isJsonObject(message["params"]) ? message["params"] : {};
    const { environment_name: name, ...rest } = params;
    if (name !== undefined && name !== null) {
      const target = targetNamed(targets, name);
      const detail = `environment_name: ${JSON.stringify(name)} is none of ${listOf(targets)}`;
      if (target === undefined) return shown(dataError(id, invalidParams(detail)));
      return await this.#forward(role, target, id, method, JSON.stringify({ ...message, params: rest }));
    }
    const outcome = await this.#overAll(role, targets, method, params);
    return shown("result" in outcome ? dataResult(id, outcome.result) : dataError(id, outcome));
  }

  async #overAll(
    role: string,
    targets: readonly Target[],
    method: string,
    params: JsonObject,
  ): Promise<{ result: JsonObject } | DataError> {
    if (method === "data/add") return await this.#add(role, targets, params);
    const asked = targets.map((target) => ({ target, params: method === "data/get" ? grantFor(target, params) : {} }));
    const outcomes = await this.#askAll(role, method, asked);
    if ("code" in outcomes) return outcomes;
    if (method === "data/reset") return { result: {} };
    const parts = outcomes.results.flatMap(({ target, result }) => {
      const listed = Array.isArray(result["parts"]) ? result["parts"] : [];
      return listed.filter(isJsonObject).map((part) => labelled(part, target));
    });
    return { result: { parts } };
  }

  /** Each part goes to the environment that it names. If one names none, none is sent. */
  async #add(role: string, targets: readonly Target[], params: JsonObject): Promise<{ result: JsonObject } | DataError> {
    const parts = params["parts"];
    if (!Array.isArray(parts) || parts.length === 0) return invalidParams("parts: a list with at least one part is needed");
    const byTarget = new Map<Target, JsonObject[]>();
    for (const [at, part] of parts.entries()) {
      const target = isJsonObject(part) ? targetOf(targets, environmentOf(part)) : undefined;
      if (target === undefined || !isJsonObject(part))
        return invalidParams(`parts.${at}: its metadata must name one of ${listOf(targets)}, or environment_name must`);
      byTarget.set(target, [...(byTarget.get(target) ?? []), unlabelled(part)]);
    }
    const asked = [...byTarget].map(([target, own]) => ({ target, params: { parts: own } }));
    const outcomes = await this.#askAll(role, "data/add", asked);
    return "code" in outcomes ? outcomes : { result: {} };
  }

  /** Asks several at once. What goes wrong with any is said of each by name. */
  async #askAll(
    role: string,
    method: string,
    asked: readonly { readonly target: Target; readonly params: JsonObject }[],
  ): Promise<{ results: { target: Target; result: JsonObject }[] } | DataError> {
    const outcomes = await Promise.all(
      asked.map(async ({ target, params }) => ({ target, outcome: await this.#ask(role, target, { method, params }) })),
    );
    const failures = outcomes.flatMap(({ target, outcome }) => ("failure" in outcome ? [`${target.key} (${outcome.failure})`] : []));
    if (failures.length > 0) return failed(`${method} failed at ${failures.join(", ")}`);
    return { results: outcomes.flatMap(({ target, outcome }) => ("result" in outcome ? [{ target, result: outcome.result }] : [])) };
  }

  async #ask(role: string, target: Target, call: { method: string; params: JsonObject }): Promise<Outcome> {
    const answer = await this.#send(role, target, JSON.stringify({ jsonrpc: "2.0", id: 1, ...call }));
    if ("failure" in answer) return answer;
    if (answer.status !== 200) return { failure: `HTTP ${answer.status}` };
    const read = receivedJson(answer.body);
    const said = "value" in read && isJsonObject(read.value) ? read.value : {};
    if (isJsonObject(said["result"])) return { result: said["result"] };
    const error = isJsonObject(said["error"]) ? said["error"] : null;
    if (error === null) return { failure: "its answer is no JSON-RPC" };
    const detail = isJsonObject(error["data"]) && typeof error["data"]["detail"] === "string" ? `: ${error["data"]["detail"]}` : "";
    return { failure: `${String(error["message"])}${detail}` };
  }

  async #forward(role: string, target: Target, id: unknown, method: string, body: string): Promise<PlaneAnswer> {
    const answer = await this.#send(role, target, body);
    return "failure" in answer ? shown(dataError(id, failed(`${method} failed at ${target.key} (${answer.failure})`))) : answer;
  }

  async #send(role: string, target: Target, body: string): Promise<PlaneAnswer | { readonly failure: string }> {
    const { host, clock, settings } = this.#deployment;
    const headers: Field[] = [
      ["content-type", "application/json"],
      ["accept-encoding", "identity"],
      [ROLE_HEADER.toLowerCase(), role],
      [HOPS_FIELD, "1"],
      ...timeFields(clock.written()),
    ];
    const request: UpRequest = { method: "POST", url: target.url, headers, body, idleMs: LOAD_MS };
    try {
      const response = await watchedExchange(host.observer, request, (sent) => host.upstream(sent)).response;
      const text = await textOf(response, settings.maxMessageBytes);
      return { status: response.status, type: response.header("content-type") ?? "application/json", body: text };
    } catch (error) {
      if (error instanceof BodyTooLarge) return { failure: `its answer is larger than ${settings.maxMessageBytes} bytes` };
      if (error instanceof Fault) return { failure: error.reason };
      throw error;
    }
  }

  async #targets(): Promise<Target[]> {
    return (await this.#deployment.children()).flatMap(targetIn);
  }
}

/** A child whose card serves a data plane at an address of its own. */
function targetIn({ server, served }: Backing): Target[] {
  if (served === null || server.name === BROWSER_NAME) return [];
  const { name, url, capabilities } = served.card;
  if (capabilities.operations?.length === 0) return [];
  const path = pathOnServer(url === "" ? DATA_PLANE_PATH : url, ownOrigins(server));
  if (path === null) return [];
  const takesGrants = (capabilities.extensions ?? []).some(({ uri }) => uri === DATA_OBJECTS_URI);
  return [{ key: serviceKey(server), name, url: joined(server.url, path).replace(/\/$/, ""), takesGrants }];
}

/** The target of a key, or of a card's name that only one has. */
function targetNamed(targets: readonly Target[], name: unknown): Target | undefined {
  const byKey = targets.find(({ key }) => key === name);
  const byName = targets.filter((target) => target.name === name);
  return byKey ?? (byName.length === 1 ? byName[0] : undefined);
}

function targetOf(targets: readonly Target[], label: Labelled | null): Target | undefined {
  return label === null ? undefined : targetNamed(targets, label.key ?? label.name);
}

/** A grant only goes to those that say they can use one. */
function grantFor(target: Target, params: JsonObject): JsonObject {
  const { write_namespace, ...rest } = params;
  return target.takesGrants ? params : rest;
}

function listOf(targets: readonly Target[]): string {
  return targets.map(({ key }) => JSON.stringify(key)).join(", ");
}

function failed(message: string): DataError {
  return { code: -32000, message };
}

function shown(answer: unknown): PlaneAnswer {
  return { status: 200, type: "application/json", body: JSON.stringify(answer) };
}
