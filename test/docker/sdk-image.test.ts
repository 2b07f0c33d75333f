import { describe, expect, onTestFinished, test } from "vitest";
import { deployEnv } from "../../build-service/src/deploy/deploy.ts";
import { laidOut } from "../fixtures/sdk/laid-out.ts";
import { PLACES_FILES, PLACES_NAME, shownAt } from "../fixtures/sdk/places.ts";
import { program, said } from "../fixtures/sdk/programs.ts";
import { deployOptions, docker, envOf, mcpServer, noEngine, testBed } from "./support.ts";

const DOCKERFILE = 'FROM agent-env/sdk:0.1.0\nCOPY . .\nCMD ["node", "server.ts"]\n';

describe.skipIf(noEngine)("the base image agent-env/sdk", () => {
  test("W1.1 an environment shows the same of itself in a container as on this machine", async () => {
    await using place = await testBed();
    const server = await mcpServer(place.store, PLACES_NAME, { Dockerfile: DOCKERFILE, ...PLACES_FILES });
    onTestFinished(async () => {
      if (server.kind === "mcp") await docker.getImage(server.image.record.image_name).remove({ force: true });
    });
    const env = envOf([server], "server");
    const deployment = await deployEnv(deployOptions(env), place);
    using folder = await laidOut(PLACES_FILES);
    const variables = { ENVIRONMENT_NAME: PLACES_NAME, MCP_HOST: "127.0.0.1", MCP_PORT: "0" };
    const [, here = ""] = await said(program("server.ts", folder.app, variables), /listens on (\S+)/);
    expect(await shownAt(new URL(deployment.record.mcp_url ?? "").origin)).toEqual(await shownAt(here));
    expect(await deployment.teardown()).toEqual([]);
  });
});
