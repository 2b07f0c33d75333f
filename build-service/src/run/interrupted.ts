export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Why a command was asked to stop: the reason of its aborted signal. */
export class Interrupted extends Error {
  readonly signal: StopSignal;
  readonly exitCode: number;

  constructor(signal: StopSignal) {
    super(`interrupted by ${signal}`);
    this.name = "Interrupted";
    this.signal = signal;
    this.exitCode = EXIT_CODES[signal];
  }
}
