import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { deployEnv } from "../../build-service/src/deploy/deploy.ts";
import { processProvider } from "../../build-service/src/providers/sandbox/process/provider.ts";
import { openLocalStore } from "../../build-service/src/store/local.ts";
import { stageWorkspace, WORKSPACES } from "../../scripts/pack/stage.ts";
import { mustRun } from "../../scripts/setup/command.ts";
import { deployOptions, envOf, mcpServer } from "../docker/support.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { shellEnvironment } from "../fixtures/packages.ts";
import { deployContext } from "../fixtures/process-deploy.ts";
import { laidOut } from "../fixtures/sdk/laid-out.ts";
import { PLACES_FILES, PLACES_NAME, shownAt } from "../fixtures/sdk/places.ts";
import { program, said } from "../fixtures/sdk/programs.ts";

const VARIABLES = { ENVIRONMENT_NAME: PLACES_NAME, MCP_HOST: "127.0.0.1", MCP_PORT: "0" };

/** What the environment in a folder shows when Node runs it there. */
async function shownFrom(folder: string): Promise<unknown> {
  const [, url = ""] = await said(program("server.ts", folder, VARIABLES), /listens on (\S+)/);
  return await shownAt(url);
}

describe("W1.1 an environment shows the same of itself in every place", () => {
  let image: Awaited<ReturnType<typeof laidOut>>;
  beforeAll(async () => {
    image = await laidOut(PLACES_FILES);
  });
  afterAll(() => image[Symbol.dispose]());

  test("with the files of the base image", async () => {
    expect(await shownFrom(image.app)).toMatchObject({
      page: [200, expect.stringContaining("text/plain"), "/website/x/page"],
      rate: { rate: 0.5, who: ["alice", "2026-03-01T09:00:00.000Z"] },
      badRate: { ok: false, error: { code: "invalid_params" } },
      badAdd: { error: { code: -32000, data: { code: "add_failed" } } },
      eras: ["2025-11-25", "2026-07-28"].map((version) => ({
        version,
        tools: [{ name: "places_add" }],
        added: { structuredContent: { who: ["alice", "2026-03-01T09:00:00.000Z"] } },
        progress: expect.arrayContaining([{ progress: 1, total: 1 }]),
        refused: { isError: true },
        resource: [{ text: "hello\n" }],
        prompt: [{ content: { text: "in 2" } }],
      })),
      get: { result: { parts: [{ kind: "data", data: { items: ["seed", "legacy", "modern"] } }] } },
    });
  });

  test("as a process that the CLI runs", async () => {
    using folder = temporaryFolder();
    const store = await openLocalStore(folder.path, "write");
    const context = deployContext(store, folder.path);
    try {
      const files = { Dockerfile: 'FROM agent-env/sdk:0.1.0\nCOPY . .\nCMD ["node", "server.ts"]\n', ...PLACES_FILES };
      const env = envOf([await mcpServer(store, PLACES_NAME, files)], "server");
      const { record } = await deployEnv(deployOptions(env, { sandbox: "process" }), context);
      expect(await shownAt(new URL(record.mcp_url ?? "").origin)).toEqual(await shownFrom(image.app));
    } finally {
      for (const { deploymentId } of await processProvider.labelled(context)) await processProvider.remove(deploymentId, context);
      await store.close();
    }
  });

  test("installed from npm's packages, with the front end beside it", { timeout: 300_000 }, async () => {
    const folder = temporaryFolder({ ...PLACES_FILES, "package.json": '{ "type": "module" }' });
    onTestFinished(() => folder[Symbol.dispose]());
    const stage = join(folder.path, "stage");
    mkdirSync(stage);
    const archives: string[] = [];
    for (const workspace of WORKSPACES.filter(({ name }) => ["@agent-env/protocol", "@agent-env/sdk"].includes(name))) {
      const packed = await stageWorkspace(join(import.meta.dirname, "../.."), workspace, stage);
      const printed = await mustRun("npm", ["pack", "--silent", "--pack-destination", stage], { budgetSeconds: 60, cwd: packed });
      archives.push(join(stage, printed.trim().split("\n").at(-1) ?? ""));
    }
    const peers = ["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/server@2.4.0", "@cfworker/json-schema@4.1.6"];
    const install = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...archives, ...peers];
    await mustRun("npm", install, { budgetSeconds: 200, cwd: folder.path, env: shellEnvironment({}) });
    expect(await shownFrom(folder.path)).toEqual(await shownFrom(image.app));

    const { promise, reject } = Promise.withResolvers<never>();
    const backend = program("server.ts", folder.path, VARIABLES);
    backend.exit.then(() => reject(new Error(backend.output())));
    const [, url = ""] = await Promise.race([said(backend, /listens on (\S+)/), promise]);
    const frontEnd = program("node_modules/.bin/agent-env-front-end", folder.path, { BACKEND_URL: url, HOST: "127.0.0.1", PORT: "0" });
    const [, place] = await said(frontEnd, /listens on (\S+) and passes/);
    expect(await (await fetch(`http://${place}/page`)).text()).toBe("/page");
  });
});
