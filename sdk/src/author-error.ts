import { UserError } from "@agent-env/protocol";

/** Where this SDK lies, as a line of a stack names it: its sources, or the file it is bundled into. */
const SDK = new URL(".", import.meta.url);
const OWN_PLACES = [SDK.href, decodeURI(SDK.pathname), "node:"];

/**
 * Something that the author of an environment can mend. Thrown to the end, Node prints its `stack`: what, why, the next step, and
 * the line of the author's own file. Node ends with 1 then; `exitCode` is for a program that catches it.
 */
export class AuthorError extends UserError {
  constructor(...args: ConstructorParameters<typeof UserError>) {
    super(...args);
    this.name = "AuthorError";
    const place = (this.stack ?? "").split("\n").find((line) => /^ {4}at /.test(line) && !OWN_PLACES.some((own) => line.includes(own)));
    const lines = [`${this.name}: ${this.message}`, `  ${this.why}`, `  Next: ${this.next}`, ...(place === undefined ? [] : [place])];
    this.stack = lines.join("\n");
    // Node prints the fields that can be listed after the stack, once more.
    for (const field of ["name", "why", "next", "exitCode"]) Object.defineProperty(this, field, { enumerable: false });
  }
}
