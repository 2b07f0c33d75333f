import { test } from "vitest";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { expectWithin, newcomersPath } from "../fixtures/newcomer.ts";

// Here since this tier runs one file at a time: the promise is a time, and what else runs would count in it.
test("P3 W5 a newcomer without Docker makes, checks and runs a website that conforms, within 20 s", async () => {
  using place = temporaryFolder();
  const cli = agentEnv(NO_DOCKER, place.path);
  try {
    expectWithin(20, await newcomersPath(cli));
  } finally {
    cli.remove();
  }
});
