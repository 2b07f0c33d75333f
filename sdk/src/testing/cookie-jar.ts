/** The cookies of one visitor: whatever was set is sent back, until it is taken away. */
export class CookieJar {
  readonly #cookies = new Map<string, string>();

  keep(answer: Response): void {
    for (const field of answer.headers.getSetCookie()) {
      const [pair = "", ...attributes] = field.split(";").map((part) => part.trim());
      const at = pair.indexOf("=");
      if (attributes.some((attribute) => /^max-age=(0|-\d+)$/i.test(attribute))) this.#cookies.delete(pair.slice(0, at));
      else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }

  /** The `Cookie` field; undefined if there is nothing to send. */
  get field(): string | undefined {
    if (this.#cookies.size === 0) return undefined;
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}
