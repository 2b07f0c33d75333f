/** So many at once, so many more in line. First come, first served. */
export class Slots {
  readonly #limit: number;
  readonly #lineLimit: number;
  readonly #line: (() => void)[] = [];
  #taken = 0;

  constructor(limit: number, lineLimit: number) {
    this.#limit = limit;
    this.#lineLimit = lineLimit;
  }

  /** Nothing to wait for, or a promise of one's turn; null where the line is full. */
  take(): Promise<void> | undefined | null {
    if (this.#taken < this.#limit) {
      this.#taken++;
      return undefined;
    }
    if (this.#line.length >= this.#lineLimit) return null;
    return new Promise((resolve) => this.#line.push(resolve));
  }

  give(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#taken--;
    else next();
  }
}
