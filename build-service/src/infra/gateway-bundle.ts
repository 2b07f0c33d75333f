import { bundledEntry } from "./bundle-code.ts";

let made: Promise<string> | null = null;

/** The gateway's Node host as one file, started as `node gateway.mjs`. Made once a process. */
export function gatewayBundle(): Promise<string> {
  made ??= bundledEntry("@agent-env/gateway/node");
  return made;
}
