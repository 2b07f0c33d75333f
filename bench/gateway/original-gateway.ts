import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { mustRun } from "../../scripts/setup/command.ts";
import { fillFolder } from "../../scripts/setup/kept-folder.ts";
import { thisMachine } from "../../scripts/setup/machine.ts";
import { originalCommand } from "../original.ts";
import { type Program, startProgram } from "./program.ts";

/** What its gateway's image has besides: without it the gateway doesn't start, with no database it isn't used. */
const DRIVER = "psycopg2-binary==2.9.13";

/** The original's gateway, or why there is none to compare with. */
export type OriginalGateway =
  | { start(folder: string, at: { port: number; echoPort: number }): Promise<Program> }
  | { readonly why: string };

/** The original's gateway as its image starts it, with the packages of its image. It records calls; it knows no tokens. */
export async function originalGateway(say: (line: string) => void): Promise<OriginalGateway> {
  const original = await originalCommand(say);
  if ("why" in original) return original;
  const [python = ""] = original.argv;
  const driver = join(thisMachine().cacheFolder, "python", DRIVER.replace("==", "-"));
  try {
    if (!existsSync(driver)) await install(python, driver, say);
  } catch (error) {
    return { why: `${DRIVER}: ${error instanceof Error ? error.message : String(error)}` };
  }
  return {
    start: (folder, { port, echoPort }) =>
      startProgram({
        name: "original",
        folder,
        argv: [python, "-m", "agent_env.env.gateway.entrypoint"],
        readyUrl: `http://127.0.0.1:${port}/state`,
        env: {
          PATH: `${dirname(python)}:${process.env["PATH"] ?? ""}`,
          PYTHONPATH: driver,
          INTERNAL_MCP_SERVERS: `echo=http://127.0.0.1:${echoPort}/mcp`,
          GATEWAY_TRAJECTORY_FILE: join(folder, "original-trajectory.jsonl"),
          MCP_HOST: "127.0.0.1",
          MCP_PORT: String(port),
        },
      }),
  };
}

async function install(python: string, folder: string, say: (line: string) => void): Promise<void> {
  say(`installing ${DRIVER} into ${folder}`);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"];
  await fillFolder(folder, async (unfinished) => void (await mustRun(python, [...pip, unfinished, DRIVER], { budgetSeconds: 300 })));
}
