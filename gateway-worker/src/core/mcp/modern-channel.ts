import {
  CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJsonObject,
  type JsonObject,
  LOG_LEVEL_META_KEY,
  METHOD_HEADER,
  MODERN_VERSION,
  NAME_HEADER,
  VERSION_META_KEY,
} from "@agent-env/protocol";
import type { Field } from "../seam.ts";
import { type Ask, type Channel, CLIENT_INFO, type Wire } from "./channel.ts";
import { type Answered, exchange, type Post } from "./exchange.ts";
import { encodedHeader } from "./header-value.ts";

/** For whom a modern request is made. */
export type ModernCaller = { readonly capabilities: JsonObject; readonly logLevel?: string };

/** The way to a modern server: each request says who asks, and stands for itself. */
export class ModernChannel implements Channel {
  readonly era = "modern";
  readonly #wire: Wire;
  readonly #caller: ModernCaller;

  constructor(wire: Wire, caller: ModernCaller) {
    this.#wire = wire;
    this.#caller = caller;
  }

  async opened(): Promise<void> {}

  async request(ask: Ask): Promise<Answered> {
    const id = this.#wire.nextId();
    ask.sent?.(id);
    // a modern server asks nothing on a stream
    const heard = (said: JsonObject) => (said["id"] === undefined ? ask.heard(said) : undefined);
    const { silenceMs, cancellation } = ask;
    return await exchange(this.#wire.host, { ...this.post(ask.message, id, ask.fields), silenceMs, cancellation, heard });
  }

  /** A request as it is sent. */
  post(message: JsonObject, id: number, more: readonly Field[] = []): Omit<Post, "silenceMs" | "heard"> {
    const { url, maxBytes, fields } = this.#wire;
    const whole = { ...message, id, params: { ...paramsOf(message), _meta: this.#meta(message) } };
    const headers = [...fields(), ...modernFields(whole), ...more];
    return { url, message: whole, session: undefined, version: MODERN_VERSION, fields: headers, maxBytes };
  }

  #meta(message: JsonObject): JsonObject {
    const meta = paramsOf(message)["_meta"];
    const { capabilities, logLevel } = this.#caller;
    return {
      ...(isJsonObject(meta) ? meta : {}),
      [VERSION_META_KEY]: MODERN_VERSION,
      [CLIENT_INFO_META_KEY]: CLIENT_INFO,
      [CAPABILITIES_META_KEY]: capabilities,
      ...(logLevel === undefined ? {} : { [LOG_LEVEL_META_KEY]: logLevel }),
    };
  }
}

function paramsOf(message: JsonObject): JsonObject {
  return isJsonObject(message["params"]) ? message["params"] : {};
}

/** Which part of the params `Mcp-Name` repeats, by method. */
export const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

function modernFields(message: JsonObject): Field[] {
  const method = String(message["method"]);
  const named = NAMED_BY[method];
  const name = named === undefined ? undefined : paramsOf(message)[named];
  const fields: Field[] = [[METHOD_HEADER, method]];
  return typeof name === "string" ? [...fields, [NAME_HEADER, encodedHeader(name)]] : fields;
}
