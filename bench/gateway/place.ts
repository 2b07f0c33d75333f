import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/fixtures/free-port.ts";
import { startOrigin } from "./nginx.ts";
import { type Program, startProgram } from "./program.ts";

/** The programs end with this process, whatever ends it. */
const ENDED_BY = { SIGINT: 130, SIGTERM: 143 };

export type Running = Program & { readonly port: number };

/** A folder, and programs that work in it. All of it is gone with the place. */
export type BarePlace = {
  readonly folder: string;
  /** Starts a program on a port of its own, that ends with the place. */
  start<P extends Program>(starting: (port: number) => Promise<P>): Promise<P & Running>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** With what stands behind every gateway: the tool, and the files. */
export type Place = BarePlace & { readonly echo: Running; readonly origin: Running };

/** Makes the folder. */
export function newBarePlace(): BarePlace {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-bench-"));
  const ending = new AsyncDisposableStack();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  ending.defer(remove);
  process.once("exit", remove);
  for (const [signal, code] of Object.entries(ENDED_BY)) process.once(signal, () => process.exit(code));
  const start: BarePlace["start"] = async (starting) => {
    const port = await freePort();
    const program = await starting(port);
    ending.defer(() => program.stop());
    return { ...program, port };
  };
  return { folder, start, [Symbol.asyncDispose]: () => ending.disposeAsync() };
}

/** Makes the folder and starts the servers behind. */
export async function newPlace(): Promise<Place> {
  const place = newBarePlace();
  const { folder, start } = place;
  try {
    const echo = await start((port) => {
      const argv = [process.execPath, fileURLToPath(new URL("echo-http.ts", import.meta.url)), String(port)];
      return startProgram({ name: "echo", folder, argv, readyUrl: `http://127.0.0.1:${port}/calls` });
    });
    const origin = await start((port) => startOrigin(folder, port));
    return { ...place, echo, origin };
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}
