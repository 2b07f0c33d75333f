import type { LiveCall } from "./live-call.ts";
import type { Turn } from "./turn.ts";

/** A call under way, as its client names it. */
export type Entry = { readonly call: LiveCall; readonly turn: Turn; readonly id: unknown; place: number };

/**
 * The calls under way. A list, though they are looked for by their names: V8 keeps what a long-lived `Map` has held until a full
 * collection, and with a call all of its request.
 */
export class LiveCalls {
  readonly #entries: Entry[] = [];

  /** `id`: of the client's request, in the turn that the call is in now. */
  add(call: LiveCall, id: unknown): Entry {
    const entry = { call, turn: call.turn, id, place: this.#entries.length };
    this.#entries.push(entry);
    return entry;
  }

  /** Its place is taken by the last one. */
  remove(entry: Entry): void {
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    this.#entries[entry.place] = last;
    last.place = entry.place;
  }

  /** The call of a turn's caller by that id; none where there are two, which can't be told apart. */
  only(turn: Turn, id: unknown): LiveCall | undefined {
    const name = nameOf(turn, id);
    const found = this.#entries.filter((entry) => nameOf(entry.turn, entry.id) === name);
    return found.length === 1 ? found[0]?.call : undefined;
  }
}

function nameOf(turn: Turn, id: unknown): string {
  return `${turn.era} ${turn.session?.key ?? turn.caller} ${JSON.stringify(id)}`;
}
