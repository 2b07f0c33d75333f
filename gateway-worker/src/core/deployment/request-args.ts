import { isJsonObject, type JsonObject, receivedJson } from "@agent-env/protocol";
import { concatenated } from "../body.ts";
import type { In } from "../seam.ts";

/** Of a longer body the arguments aren't read. */
const LONGEST_BODY = 1_048_576;

/** What a website's request says: its query, and its form or JSON object, which wins. Repeats become lists. */
export class RequestArgs {
  readonly #query: string;
  readonly #type: string;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(path: string, request: In) {
    const query = path.indexOf("?");
    this.#query = query < 0 ? "" : path.slice(query + 1);
    this.#type = request.header("content-type") ?? "";
  }

  /** A piece of the body goes by. */
  seen(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#size <= LONGEST_BODY) this.#chunks.push(chunk.slice());
    else this.#chunks.length = 0;
  }

  /** The arguments, as far as the body has been seen. */
  async read(): Promise<JsonObject> {
    return { ...collected(new URLSearchParams(this.#query)), ...(this.#size > LONGEST_BODY ? {} : await this.#inBody()) };
  }

  async #inBody(): Promise<JsonObject> {
    const bytes = concatenated(this.#chunks, this.#size);
    if (bytes.length === 0) return {};
    if (/json/i.test(this.#type)) {
      const read = receivedJson(new TextDecoder().decode(bytes));
      return "value" in read && isJsonObject(read.value) ? read.value : {};
    }
    if (!/^(application\/x-www-form-urlencoded|multipart\/form-data)/i.test(this.#type)) return {};
    try {
      const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": this.#type } }).formData();
      return collected([...form].flatMap(([name, value]): [string, string][] => (typeof value === "string" ? [[name, value]] : [])));
    } catch (error) {
      // a form that is none says nothing
      if (error instanceof TypeError) return {};
      throw error;
    }
  }
}

function collected(entries: Iterable<[string, string]>): JsonObject {
  const args = new Map<string, string | string[]>();
  for (const [name, value] of entries) {
    const known = args.get(name);
    args.set(name, known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value]);
  }
  return Object.fromEntries(args);
}
