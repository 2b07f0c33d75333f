/** What has asked for nothing for so long has done what it does by itself. */
const QUIET_MS = 250;
/** What goes on asking is taken as it is by then. */
const LONGEST_MS = 5_000;

/** Whether anything of a page is on its way: requests, first messages of what stays open. */
export class Quiet {
  readonly #open = new Set<unknown>();
  #changed: () => void = () => {};

  began(what: unknown): void {
    this.#open.add(what);
    this.#changed();
  }

  ended(what: unknown): void {
    if (this.#open.delete(what)) this.#changed();
  }

  /** Resolves when nothing has been on its way for a moment, or when that takes too long. False: it did. */
  reached(): Promise<boolean> {
    return new Promise((resolve) => {
      let moment: NodeJS.Timeout | undefined;
      const end = (isQuiet: boolean): void => {
        clearTimeout(moment);
        clearTimeout(longest);
        this.#changed = () => {};
        resolve(isQuiet);
      };
      const longest = setTimeout(() => end(false), LONGEST_MS);
      this.#changed = () => {
        clearTimeout(moment);
        if (this.#open.size === 0) moment = setTimeout(() => end(true), QUIET_MS);
      };
      this.#changed();
    });
  }
}
