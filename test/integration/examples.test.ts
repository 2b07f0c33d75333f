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
    ["B7", "react-shop/README.md"],
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

test("P3 react-shop, whose front end is built, is refused as processes with each line that would have to run", async () => {
  const cli = agentEnv(NO_DOCKER);
  const { exitCode, out, err } = await cli.run("run", "examples/react-shop", "--sandbox", "process");
  cli.remove();
  const at = "tasks/order.json: step 'deploy': envs/shop (Dockerfile.frontend image): Dockerfile.frontend";
  // What is lacking depends on what other packages of the workspace bring along.
  expect({ exitCode, out, err: err.replace(/(?<=lacks ).+/, "<packages>") }).toEqual({
    exitCode: 1,
    out: "",
    err: [
      `${at}:11: COPY --from=build /app/dist /usr/share/nginx/html: several stages can't be honoured without Docker`,
      `${at}:4: RUN npm ci: agent-env's own installation lacks <packages>`,
      `${at}:6: RUN npm run build: commands can't be run without Docker, only npm ci and npm install may be skipped`,
      `${at}:8: FROM nginx:stable: neither CMD nor ENTRYPOINT says what to start, and the base image isn't asked`,
      `${at}:8: FROM nginx:stable: several stages can't be honoured without Docker`,
      "5 problems; nothing was built, written or started",
      "",
    ].join("\n"),
  });
});
