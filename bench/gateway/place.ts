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

/** A folder, and what stands behind every gateway: the tool, and the files. All of it is gone with the place. */
export type Place = {
  readonly folder: string;
  readonly echo: Running;
  readonly origin: Running;
  /** Starts a program on a port of its own, that ends with the place. */
  start<P extends Program>(starting: (port: number) => Promise<P>): Promise<P & Running>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Makes the folder and starts the servers behind. */
export async function newPlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-bench-"));
  const ending = new AsyncDisposableStack();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  ending.defer(remove);
  process.once("exit", remove);
  for (const [signal, code] of Object.entries(ENDED_BY)) process.once(signal, () => process.exit(code));
  const start: Place["start"] = async (starting) => {
    const port = await freePort();
    const program = await starting(port);
    ending.defer(() => program.stop());
    return { ...program, port };
  };
  try {
    const echo = await start((port) => {
      const argv = [process.execPath, fileURLToPath(new URL("echo-http.ts", import.meta.url)), String(port)];
      return startProgram({ name: "echo", folder, argv, readyUrl: `http://127.0.0.1:${port}/calls` });
    });
    const origin = await start((port) => startOrigin(folder, port));
    return { folder, echo, origin, start, [Symbol.asyncDispose]: () => ending.disposeAsync() };
  } catch (error) {
    await ending.disposeAsync();
    throw error;
  }
}
