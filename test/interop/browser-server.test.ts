import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { noChromium } from "../fixtures/chromium.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { type Driver, withDriver } from "../fixtures/interop/driver.ts";
import { playwrightServer } from "../fixtures/interop/public-servers.ts";
import { sdkV1 } from "../fixtures/interop/sdk-v1.ts";
import { sdkV2 } from "../fixtures/interop/sdk-v2.ts";
import { type ServerProcess, startServer } from "../fixtures/interop/server-process.ts";

const Result = z.object({ content: z.array(z.object({ text: z.string().optional() })), isError: z.boolean().optional() });
const GUESTBOOK = fileURLToPath(new URL("../../examples/hello/envs/guestbook/server.ts", import.meta.url));

describe.skipIf(noChromium !== "")(
  `@playwright/mcp behind the gateway, with a site of the same deployment${noChromium && ` (skipped: ${noChromium})`}`,
  () => {
    let home: ReturnType<typeof temporaryFolder>;
    let browser: ServerProcess;
    let guestbook: ServerProcess;
    beforeAll(async () => {
      home = temporaryFolder();
      [browser, guestbook] = await Promise.all([
        playwrightServer(home.path),
        startServer({
          name: "guestbook",
          argv: () => [process.execPath, GUESTBOOK],
          env: (port) => ({ HOST: "127.0.0.1", PORT: String(port) }),
          probe: "/api/health",
        }),
      ]);
    });
    afterAll(async () => {
      await Promise.all([endHosts(), browser.stop(), guestbook.stop()]);
      home[Symbol.dispose]();
    });

    describe.each(HOSTS)("host $host", ({ host, start }) => {
      let gateway: RunningGateway;
      beforeAll(async () => {
        const site = { name: "guestbook", kind: "website" as const, url: guestbook.url, frontend_url: guestbook.url };
        gateway = await start({
          record: (deployment) => ({
            servers: [
              { name: "browser", kind: "mcp", url: browser.url },
              { ...site, label: `guestbook--${deployment}` },
            ],
          }),
        });
      });
      afterAll(() => gateway.stop());

      const CLIENTS: readonly [string, (url: string) => Promise<Driver>, () => string][] = [
        ["SDK v1, under the site's path,", (url) => sdkV1({ url }), () => `${gateway.base}/website/guestbook/`],
        [
          "SDK v2 in its modern mode, on the site's own host,",
          (url) => sdkV2({ url }, "modern"),
          () => `http://guestbook--${gateway.deployment}.localhost:${gateway.port}/`,
        ],
      ];

      test.each(CLIENTS)(
        "G3 an agent with %s reads and fills in a page with one server's tools, and finds what it wrote with another's",
        async (_client, open, page) => {
          await withDriver(open(`${gateway.base}/mcp`), async (driver) => {
            await driver.call("browser_navigate", { url: page() });
            const opened = textOf(await driver.call("browser_snapshot"));
            expect(opened).toContain('heading "Guestbook"');
            const text = `a word from host ${host}`;
            await driver.call("browser_type", { element: "your name", target: refOf(opened, "Your name"), text: "Ada" });
            await driver.call("browser_type", { element: "your words", target: refOf(opened, "Your words"), text });
            await driver.call("browser_click", { element: "the button", target: refOf(opened, "Sign") });
            expect(textOf(await driver.call("browser_snapshot"))).toContain(text);
            expect(textOf(await driver.call("guestbook_read"))).toContain(text);
            expect(await driver.call("browser_take_screenshot", { type: "png" })).toMatchObject({
              content: expect.arrayContaining([expect.objectContaining({ type: "image", mimeType: "image/png" })]),
            });
            await driver.call("browser_close");
          });
        },
      );
    });
  },
);

/** All texts of a result that isn't an error. */
function textOf(result: unknown): string {
  const { content, isError } = Result.parse(result);
  expect(isError ?? false, JSON.stringify(content)).toBe(false);
  return content.map(({ text }) => text ?? "").join("\n");
}

/** How a snapshot calls what a label or placeholder names. */
function refOf(snapshot: string, name: string): string {
  const ref = new RegExp(`"${name}"[^\\n]*\\[ref=(\\w+)\\]`).exec(snapshot)?.[1];
  if (ref === undefined) throw new Error(`no ${name} in:\n${snapshot}`);
  return ref;
}
