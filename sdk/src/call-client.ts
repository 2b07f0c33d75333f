import { isJsonObject, issuesText, type JsonObject, LOG_LEVELS } from "@agent-env/protocol";
import { z } from "zod";
import { type ClientLine, type LogLevel, MissingCapability, type Question } from "./client-line.ts";
import { formSchema } from "./json-schema.ts";
import type { ToolContent } from "./tool-result.ts";

/** What may be asked of a client, if it declared so. */
export type Askable = "elicitation" | "elicitation.url" | "sampling" | "roots";

/** What a question is called where a client sees several at once. Made if it is left out. */
type Keyed = { readonly key?: string };

/** What a person made of a form. The content is as its schemas say. */
export type Elicited<Input extends z.ZodRawShape> =
  | { readonly action: "accept"; readonly content: z.output<z.ZodObject<Input>> }
  | { readonly action: "decline" | "cancel" };

/** What a client's model is asked. Further keys of MCP's `sampling/createMessage` pass as they are. */
export type SampleRequest = Keyed & {
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: ToolContent }[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly [key: string]: unknown;
};
const Sample = z.looseObject({ role: z.enum(["user", "assistant"]), content: z.unknown(), model: z.string() });
export type Sample = z.infer<typeof Sample>;

const Roots = z.object({ roots: z.array(z.object({ uri: z.string(), name: z.string().optional() })) });
export type Root = z.infer<typeof Roots>["roots"][number];

const Answer = z.object({ action: z.enum(["accept", "decline", "cancel"]), content: z.record(z.string(), z.unknown()).nullish() });

/** The client that made a call, as far as the call may speak with it while it runs. Outside a call nobody listens. */
export type CallClient = {
  /** Whether it declared that it can be asked. What it can't be asked rejects. */
  can(what: Askable): boolean;
  /** Tells how far the call is, if the client wants to know. Only values that rise are sent. */
  progress(progress: number, more?: { readonly total?: number; readonly message?: string }): Promise<void>;
  /** Sends a log line, if the client wants lines of this level. */
  log(level: LogLevel, data: unknown): Promise<void>;
  /** Asks the client's person to fill in a form: texts, numbers, booleans and choices. */
  elicit<Input extends z.ZodRawShape>(form: Keyed & { readonly message: string; readonly input: Input }): Promise<Elicited<Input>>;
  /** Asks the client's person to open an address, for what must not pass through the client. */
  openUrl(page: Keyed & { readonly message: string; readonly url: string }): Promise<"accept" | "decline" | "cancel">;
  /** Asks the client's model. */
  sample(request: SampleRequest): Promise<Sample>;
  /** Asks which folders and addresses the client works on. */
  roots(): Promise<readonly Root[]>;
};

/** Runs a call that may speak with its client over the line that its era has. What it says after its end goes nowhere. */
export async function whileSpeaking<T>(line: ClientLine, call: (client: CallClient) => Promise<T>): Promise<T> {
  let ended = false;
  const notify: ClientLine["notify"] = async (method, params) => {
    if (!ended && !line.signal.aborted) await line.notify(method, params);
  };
  try {
    return await call(callClient({ ...line, notify }));
  } finally {
    ended = true;
  }
}

/** What may be done with the client at the other end of a line. */
export function callClient(line: ClientLine): CallClient {
  let reached = Number.NEGATIVE_INFINITY;
  const ask = (what: Askable, question: Question) => {
    return declares(line.capabilities, what) ? line.ask(question) : Promise.reject(new MissingCapability(required(what)));
  };
  return {
    can: (what) => declares(line.capabilities, what),
    async progress(progress, more = {}) {
      const progressToken = line.progressToken();
      if (progressToken === undefined || progress <= reached) return;
      reached = progress;
      await line.notify("notifications/progress", { progressToken, progress, ...more });
    },
    async log(level, data) {
      const least = line.logLevel();
      if (least === undefined || LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
      await line.notify("notifications/message", { level, data });
    },
    async elicit({ message, input, key }) {
      const requestedSchema = formSchema(`the form ${JSON.stringify(message)}`, input);
      const params = { mode: "form", message, requestedSchema };
      const answer = read("form", Answer, await ask("elicitation", { method: "elicitation/create", params, key }));
      if (answer.action !== "accept") return { action: answer.action };
      return { action: "accept", content: read("form", z.object(input), answer.content ?? {}) };
    },
    async openUrl({ message, url, key }) {
      const params = { mode: "url", message, url };
      return read("page", Answer, await ask("elicitation.url", { method: "elicitation/create", params, key })).action;
    },
    async sample({ key, ...params }) {
      return read("model", Sample, await ask("sampling", { method: "sampling/createMessage", params, key }));
    },
    roots: async () => read("roots", Roots, await ask("roots", { method: "roots/list", params: {} })).roots,
  };
}

function read<Schema extends z.ZodType>(what: string, schema: Schema, answer: unknown): z.output<Schema> {
  const checked = schema.safeParse(answer);
  if (!checked.success) throw new Error(`the client's answer (${what}) isn't what was asked for: ${issuesText(checked.error)}`);
  return checked.data;
}

/** A client that declares elicitation and no mode takes forms (MCP 2025-11-25, elicitation). */
function declares(capabilities: JsonObject, what: Askable): boolean {
  const elicitation = capabilities["elicitation"];
  if (what === "elicitation.url") return isJsonObject(elicitation) && isJsonObject(elicitation["url"]);
  if (what === "elicitation") {
    return isJsonObject(elicitation) && (isJsonObject(elicitation["form"]) || elicitation["url"] === undefined);
  }
  return isJsonObject(capabilities[what]);
}

function required(what: Askable): JsonObject {
  return what === "elicitation.url" ? { elicitation: { url: {} } } : { [what]: {} };
}
