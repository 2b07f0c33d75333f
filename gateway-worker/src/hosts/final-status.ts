import { Fault } from "../core/seam.ts";

/** Whether a status can end an exchange. Servers say others too, which none of the platforms can pass on (RFC 9110 §15). */
export function isFinalStatus(status: number): boolean {
  return status >= 200 && status <= 599;
}

/** What a server with such an answer is. */
export function notAStatus(status: number): Fault {
  return new Fault("unknown", `it answered with status ${status}, which is none`);
}
