import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { stageWorkspace, WORKSPACES } from "./pack/stage.ts";
import { mustRun } from "./setup/command.ts";

const USAGE = `npm run pack -- --out DIR

Packs the workspaces as npm packages, as JavaScript, into DIR. Prints their paths.
`;
const CHECKOUT = fileURLToPath(new URL("..", import.meta.url));

/** Packs every workspace into `out` and gives the archives' paths, in the order of `WORKSPACES`. */
export async function packWorkspaces(out: string): Promise<string[]> {
  mkdirSync(out, { recursive: true });
  const stage = mkdtempSync(join(tmpdir(), "agent-env-pack-"));
  try {
    const archives: string[] = [];
    for (const workspace of WORKSPACES) {
      const folder = await stageWorkspace(CHECKOUT, workspace, stage);
      const printed = await mustRun("npm", ["pack", "--silent", "--pack-destination", out], { budgetSeconds: 60, cwd: folder });
      archives.push(join(out, printed.trim().split("\n").at(-1) ?? ""));
    }
    return archives;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: "string" }, help: { type: "boolean", default: false } } });
  if (values.help || values.out === undefined) {
    process.stdout.write(values.help ? USAGE : `--out is missing\n\n${USAGE}`);
    process.exitCode = values.help ? 0 : 2;
  } else {
    // npm runs scripts at the top of the checkout, whatever folder the person is in.
    const out = resolve(process.env["INIT_CWD"] ?? process.cwd(), values.out);
    for (const archive of await packWorkspaces(out)) process.stdout.write(`${archive}\n`);
  }
}
