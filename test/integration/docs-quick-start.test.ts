import { expect, test } from "vitest";
import { NO_DOCKER } from "../fixtures/agent-env.ts";
import { DocSession, docDeeds } from "../fixtures/doc-session.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const IN_CONTAINERS = "## 5 · In containers";

test("docs/quick-start.md: what it tells to do works without Docker, and prints what it shows", { timeout: 400_000 }, async () => {
  using home = temporaryFolder();
  const session = new DocSession(home.path, NO_DOCKER);
  const exitCodes: unknown[] = [];
  try {
    for (const deed of docDeeds("quick-start.md", { to: IN_CONTAINERS })) {
      const compared = await session.does(deed);
      if (compared === null) continue;
      exitCodes.push(compared.exitCode);
      expect(compared.said).toBe(compared.shown);
    }
  } finally {
    await session.end();
  }
  // Only the verifier of a tool that isn't there yet ends with another.
  expect(exitCodes).toEqual([0, 1, 0, 0, 0, 0]);
});
