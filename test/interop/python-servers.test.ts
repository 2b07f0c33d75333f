import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endHosts, HOSTS } from "../fixtures/gateway/hosts.ts";
import { type Driver, ending, withDriver } from "../fixtures/interop/driver.ts";
import { type ItemsAndShop, itemsAndShop } from "../fixtures/interop/original-environments.ts";
import { pythonServer } from "../fixtures/interop/public-servers.ts";
import { sdkV1 } from "../fixtures/interop/sdk-v1.ts";
import type { ServerProcess } from "../fixtures/interop/server-process.ts";

const NOTES = fileURLToPath(new URL("../fixtures/interop/notes.py", import.meta.url));

let notes: ServerProcess;
let original: ItemsAndShop;
beforeAll(async () => {
  [notes, original] = await Promise.all([pythonServer(NOTES), itemsAndShop("the original's SDK")]);
});
afterAll(async () => {
  await Promise.all([endHosts(), notes.stop(), original.stop()]);
});

/** What a client gets of a server itself. */
const directly = <Got>({ url }: ServerProcess, work: (driver: Driver) => Promise<Got>) => withDriver(sdkV1({ url: `${url}/mcp` }), work);

async function notesOf(driver: Driver): Promise<Record<string, unknown>> {
  const progress: unknown[] = [];
  return {
    resources: await driver.list("resources"),
    templates: await driver.list("resourceTemplates"),
    prompts: await driver.list("prompts"),
    structured: await driver.call("notes", { limit: 1 }),
    failed: await driver.call("fail"),
    "bad arguments": await driver.call("notes", { limit: "many" }),
    picture: await driver.call("picture"),
    counted: await driver.call("count", { to: 3 }, { onProgress: (said) => progress.push(said) }),
    progress,
    prompt: await driver.prompt("summary", { topic: "tea" }),
    "prompt without what it needs": await ending(driver.prompt("summary")),
    text: await driver.read("notes://all"),
    "text of a template": await driver.read("notes://7"),
  };
}

describe.each(HOSTS)("Python servers behind one gateway, host $host", ({ start }) => {
  test("G2 G3 a public client gets of each what it gets of it directly, but for the tool that is hidden", async () => {
    const gateway = await start({
      record: {
        servers: [
          { name: "notes", kind: "mcp", url: notes.url },
          { name: "items", kind: "mcp", url: original.items.url },
        ],
      },
    });
    const tools = (driver: Driver) => driver.list("tools");
    const work = async (driver: Driver) => ({
      tools: await tools(driver),
      notes: await notesOf(driver),
      failed: await driver.call("items_fail"),
      hidden: await driver.call("items_secret"),
    });
    try {
      const got = await withDriver(sdkV1({ url: `${gateway.base}/mcp` }), work);
      const listed = [...(await directly(notes, tools)), ...(await directly(original.items, tools))];
      expect(listed).toHaveLength(7);
      expect(got).toEqual({
        tools: listed.filter((tool) => !JSON.stringify(tool).includes("hiddenByDefault")),
        notes: await directly(notes, notesOf),
        failed: await directly(original.items, (driver) => driver.call("items_fail")),
        hidden: { content: [{ type: "text", text: "Tool 'items_secret' is disabled for role 'default'" }], isError: true },
      });
    } finally {
      await gateway.stop();
    }
  });
});
