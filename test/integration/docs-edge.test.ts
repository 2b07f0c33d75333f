import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PRESETS } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { NO_DOCKER } from "../fixtures/agent-env.ts";
import { DocSession, docDeeds } from "../fixtures/doc-session.ts";
import { freePort } from "../fixtures/edge.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { until } from "../fixtures/until.ts";

/** What the page's configuration reads. Nothing is asked with it. */
const CLOUDFLARE = {
  CLOUDFLARE_ACCOUNT_ID: "0123456789abcdef0123456789abcdef",
  CLOUDFLARE_API_TOKEN: "token",
  CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:1/client/v4",
  AGENT_ENV_KV: "fedcba9876543210fedcba9876543210",
  R2_ACCESS_KEY_ID: "key",
  R2_SECRET_ACCESS_KEY: "secret",
};

test("docs/edge-gateway.md: what it tells to do works on this machine, and prints what it shows", { timeout: 400_000 }, async () => {
  using home = temporaryFolder();
  const session = new DocSession(home.path, { ...NO_DOCKER, ...CLOUDFLARE });
  const url = `http://localhost:${await freePort()}`;
  let started = 0;
  try {
    for (const deed of docDeeds("edge-gateway.md")) {
      if ("command" in deed && deed.command === "npx agent-env gateway dev") {
        started++;
        session.starts(deed.command, "--port", new URL(url).port);
        await until("the edge gateway answers", 60_000, async () => (await fetch(url)).status < 600);
        continue;
      }
      const compared = await session.does(deed);
      if (compared === null) continue;
      const { command, exitCode, said, shown } = compared;
      expect({ command, exitCode }, said).toEqual({ command, exitCode: 0 });
      if (shown !== null) expect(said).toBe(shown);
    }
  } finally {
    await session.end();
  }
  expect(started).toBe(1);
});

test("docs/edge-gateway.md has each preset of a token", () => {
  const page = readFileSync(fileURLToPath(new URL("../../docs/edge-gateway.md", import.meta.url)), "utf8");
  const named = [...page.matchAll(/^\| `--preset (\w+)` \|/gm)].map(([, preset]) => preset);
  expect(named).toEqual(Object.keys(PRESETS));
});
