import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";
import { DocSession, pageDeeds } from "../fixtures/doc-session.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDER = "agent-env";

describe("an example's README: its commands work without Docker, and print what it shows", () => {
  const home = temporaryFolder();
  beforeAll(() => cpSync(join(CHECKOUT, "examples"), join(home.path, FOLDER, "examples"), { recursive: true, verbatimSymlinks: true }));
  afterAll(() => home[Symbol.dispose]());

  test.each([
    ["W6", "suite/envs/notes/README.md"],
    ["W6", "suite/envs/shop/README.md"],
    ["W6", "suite/envs/shoprel/README.md"],
    ["B13.7", "suite/envs/items/README.md"],
    ["B13.7 B13.8", "suite/README.md"],
    ["B3.2", "python-board/README.md"],
  ])("%s examples/%s", async (_id, readme) => {
    const session = new DocSession(home.path, NO_DOCKER);
    try {
      await session.does({ command: `cd ${FOLDER}`, shown: null });
      const deeds = pageDeeds(`examples/${readme}`);
      expect(deeds.length).toBeGreaterThan(0);
      for (const deed of deeds) {
        const compared = await session.does(deed);
        expect(compared?.exitCode, compared?.said).toBe(0);
        if (compared?.shown !== null) expect(compared?.said).toBe(compared?.shown);
      }
    } finally {
      await session.end();
    }
  });
});

test.each(["shoprel", "items-direct"])("W6 %s, which links to a neighbour's source, is whole when its links are followed", async (env) => {
  const folder = join(CHECKOUT, "examples/suite/envs", env);
  const files = readdirSync(folder).map((name) => [`envs/${env}/${name}`, readFileSync(join(folder, name))]);
  using bundle = temporaryFolder({
    ...Object.fromEntries(files),
    "tasks/up.json": JSON.stringify([{ id: "deploy", type: "deploy_env", env_id: env }]),
  });
  const cli = agentEnv(NO_DOCKER, bundle.path);
  const { exitCode, out, err } = await cli.run("run", ".", "--sandbox", "process");
  cli.remove();
  expect(exitCode, out + err).toBe(0);
});
