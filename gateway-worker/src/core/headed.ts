import type { Field, Out } from "./seam.ts";

/** An answer whose head goes through `change`, whoever writes it. */
export function headedBy(answer: Out, change: (status: number, fields: readonly Field[]) => readonly Field[]): Out {
  return {
    reply: (status, fields, body) => answer.reply(status, change(status, fields), body),
    stream: (status, fields) => answer.stream(status, change(status, fields)),
    relay: (status, fields, from) => answer.relay(status, change(status, fields), from),
    onGone: (then) => answer.onGone(then),
  };
}
