import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { imageFolder, program } from "../../test/fixtures/sdk/programs.ts";

const HEAD = `import { McpEnvironment, z } from "@agent-env/sdk";
const env = new McpEnvironment({ name: "items" });
`;
const TOOL = `env.tool("add", { description: "Adds.", input: { a: z.string() }, run: () => "" });\n`;
const FILES = {
  "twice.ts": `${HEAD}${TOOL}${TOOL}`,
  "typo.ts": `${HEAD}${TOOL.replace("input", "inputs")}`,
  "serve.ts": `${HEAD}await env.serve({ host: "127.0.0.1" });\n`,
};

/** What Node says of an uncaught error, without its own head and foot, and the folder. */
async function saidAtTheEnd(file: string, folder: string, env: Record<string, string> = {}) {
  const { exit, output } = program(file, folder, env);
  const code = await exit;
  const error = /^AuthorError/m.exec(output());
  return { code, lines: output().slice(error?.index).replaceAll(folder, "").split("\n\n")[0]?.split("\n") };
}

test("an author's mistake, uncaught, is what, why, next and the line of the author's own file", async () => {
  const folder = await imageFolder("bundle", FILES);
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const taken = String((other.address() as AddressInfo).port);

  expect(await saidAtTheEnd("twice.ts", folder)).toEqual({
    code: 1,
    lines: [
      'AuthorError: tool "add" is there twice',
      "  tools of an environment have distinct names",
      "  Next: rename one of them",
      "    at file:///twice.ts:4:5",
    ],
  });
  expect(await saidAtTheEnd("typo.ts", folder)).toEqual({
    code: 1,
    lines: [
      'AuthorError: tool "add": unknown option "inputs" (probably "input")',
      '  the options are "title", "description", "input", "output", "annotations", "meta", "hiddenByDefault", "run"',
      "  Next: write one of these, or leave it out",
      "    at file:///typo.ts:3:5",
    ],
  });
  expect(await saidAtTheEnd("serve.ts", folder, { MCP_PORT: "abc" })).toEqual({
    code: 1,
    lines: [
      'AuthorError: MCP_PORT="abc" is no port',
      "  a port is a whole number from 0 to 65535",
      "  Next: set it to 18765, or leave it out",
      "    at file:///serve.ts:3:11",
    ],
  });
  expect(await saidAtTheEnd("serve.ts", folder, { MCP_PORT: taken })).toEqual({
    code: 1,
    lines: [
      `AuthorError: items can't listen on 127.0.0.1:${taken}`,
      "  another process has that port",
      "  Next: end it, or set another port",
      "    at async file:///serve.ts:3:1",
    ],
  });
});
