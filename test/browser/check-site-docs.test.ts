import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { agentEnv } from "../fixtures/agent-env.ts";
import { CHROMIUM, noChromium } from "../fixtures/chromium.ts";
import { docPage } from "../fixtures/doc-page.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type Answer, startSite } from "./check-site-support.ts";

const PAGE = readFileSync(fileURLToPath(new URL("../../docs/check-site.md", import.meta.url)), "utf8");
const TYPES: Readonly<Record<string, string>> = { html: "text/html; charset=utf-8", css: "text/css", js: "text/javascript" };
/** What the page shows that commands print, in its order. */
const SHOWN = [...PAGE.matchAll(/^```\n((?:guestbook|\$)[\s\S]*?)^```$/gm)].map(([, text = ""]) => text);

test.skipIf(noChromium !== "")(
  `N5 docs/check-site.md: what it shows is what is said${noChromium && ` (${noChromium})`}`,
  { timeout: 400_000 },
  async () => {
    const { files, commands } = docPage("check-site.md");
    using folder = temporaryFolder(files);
    const agent = agentEnv({ AGENT_ENV_CHROMIUM: CHROMIUM }, folder.path);
    let printed = "";
    for (const command of commands) {
      const ended = await agent.run(...command);
      expect(ended, ended.err).toMatchObject({ exitCode: 0 });
      printed = ended.out;
    }
    const paths = Object.keys(files)
      .filter((name) => name !== "sign.txt")
      .map((name): [string, Answer] => {
        const text = readFileSync(join(folder.path, name), "utf8");
        return [name === "index.html" ? "/" : `/${name}`, [TYPES[name.split(".").at(-1) ?? ""] ?? "", text]];
      });
    const site = await startSite({
      ...Object.fromEntries(paths),
      "/paper.svg": ["image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    });
    const checked = await agent.run("check-site", site.url);
    await site.close();
    agent.remove();
    expect([printed, `$ npx agent-env check-site http://localhost:3000\n${checked.out}`]).toEqual(SHOWN);
  },
);
