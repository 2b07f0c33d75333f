import { join } from "node:path";
import { test } from "vitest";
import { agentEnv } from "../fixtures/agent-env.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { expectWithin, newcomersPath } from "../fixtures/newcomer.ts";
import { noEngine, removeImagesOf } from "./support.ts";

test.skipIf(noEngine)(
  `P1 W5 a newcomer with Docker makes, checks and runs a website that conforms, within two minutes${noEngine === undefined ? "" : ` (${noEngine})`}`,
  async () => {
    using place = temporaryFolder();
    const cli = agentEnv({}, place.path);
    try {
      expectWithin(120, await newcomersPath(cli));
    } finally {
      cli.remove();
      await removeImagesOf(join(place.path, "blog"));
    }
  },
);
