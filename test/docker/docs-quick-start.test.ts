import { join } from "node:path";
import { expect, test } from "vitest";
import { DocSession, docDeeds } from "../fixtures/doc-session.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { noEngine, removeImagesOf } from "./support.ts";

const IN_CONTAINERS = "## 5 · In containers";

test.skipIf(noEngine !== undefined)(
  `docs/quick-start.md: its bundle scores 1 in containers too${noEngine === undefined ? "" : ` (${noEngine})`}`,
  { timeout: 900_000 },
  async () => {
    using home = temporaryFolder();
    const session = new DocSession(home.path);
    const before = docDeeds("quick-start.md", { to: IN_CONTAINERS }).filter(
      (deed) => "file" in deed || /^(cd|npx agent-env init) /.test(deed.command),
    );
    try {
      for (const deed of before) await session.does(deed);
      const [inContainers, ...rest] = docDeeds("quick-start.md", { from: IN_CONTAINERS });
      if (inContainers === undefined) throw new Error("the page shows no run in containers");
      expect(rest).toEqual([]);
      const ran = await session.does(inContainers);
      expect(ran?.exitCode, ran?.said).toBe(0);
      expect(ran?.said).toContain("tasks/items.json: passed (verify 1)");
    } finally {
      await session.end();
      await removeImagesOf(join(home.path, "garden"));
    }
  },
);
