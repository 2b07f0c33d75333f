/** Whether a call is still wanted. What `AbortController` does for one listener, at a fraction of what each call would pay for it. */
export class Cancellation {
  #isCancelled = false;
  #listener: (() => void) | null = null;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#listener?.();
  }

  /** Tells `listener`, in place of another, when the call is cancelled; at once where it was. Null: nobody. */
  tell(listener: (() => void) | null): void {
    this.#listener = listener;
    if (this.#isCancelled) listener?.();
  }
}
