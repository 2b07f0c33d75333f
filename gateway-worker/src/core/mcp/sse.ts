const LINE_END = /[\r\n]/g;
/** What can be given back as `Last-Event-ID`. Any other id is as if it weren't there. */
const USABLE_ID = /^[\x20-\x7e]{0,1024}$/;

/** One server-sent event with data. */
export type SseEvent = { readonly data: string };

/** An event that is larger than the gateway reads. */
export class EventTooLarge extends Error {}

/**
 * Reads a stream of server-sent events: CR, LF and CRLF, several `data` lines, comments, a byte-order mark, characters
 * split across chunks. Only new bytes are looked at, so one long line costs what its length is.
 */
export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #limit: number;
  #line: string[] = [];
  #data: string[] = [];
  #size = 0;
  #endedByCr = false;
  /** The id of the last event that had one which can be given back. */
  lastId: string | undefined;
  /** The `retry` that the server asked for. */
  retryMs: number | undefined;

  constructor(limitChars: number) {
    this.#limit = limitChars;
  }

  /** The events that a chunk completes. Throws `EventTooLarge`. */
  push(chunk: Uint8Array): SseEvent[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    const events: SseEvent[] = [];
    let from = this.#endedByCr && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#endedByCr = false;
    while (from < text.length) {
      const at = nextLineEnd(text, from);
      if (at < 0) {
        this.#keep(text.slice(from));
        break;
      }
      this.#keep(text.slice(from, at));
      const event = this.#endLine();
      if (event !== null) events.push(event);
      const isCr = text[at] === "\r";
      from = at + (isCr && text[at + 1] === "\n" ? 2 : 1);
      this.#endedByCr = isCr && from === text.length && text[at + 1] === undefined;
    }
    return events;
  }

  #keep(part: string): void {
    if (part === "") return;
    this.#size += part.length;
    if (this.#size > this.#limit) throw new EventTooLarge();
    this.#line.push(part);
  }

  #endLine(): SseEvent | null {
    const line = this.#line.length === 1 ? (this.#line[0] ?? "") : this.#line.join("");
    this.#line = [];
    if (line === "") return this.#endEvent();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") this.#data.push(value);
    else if (field === "id" && USABLE_ID.test(value)) this.lastId = value === "" ? undefined : value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return null;
  }

  #endEvent(): SseEvent | null {
    const data = this.#data;
    this.#data = [];
    this.#size = 0;
    return data.length === 0 ? null : { data: data.join("\n") };
  }
}

/** Two searches, one an ending, would each rescan the whole text for the one that a stream doesn't use. */
function nextLineEnd(text: string, from: number): number {
  LINE_END.lastIndex = from;
  return LINE_END.exec(text)?.index ?? -1;
}
