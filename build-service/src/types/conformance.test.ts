import { describe, expect, test } from "vitest";
import { conformanceFindings } from "./conformance.ts";
import { mcpServer } from "./mcp-server.ts";
import { BUILT_IN } from "./registry.ts";
import type { EnvType } from "./type.ts";

describe("B10 what a type declares to reference is the whole truth", () => {
  test.each(BUILT_IN.types.map((type) => [type.type, type] as const))("for %s", async (_name, type) => {
    expect(await conformanceFindings(type, BUILT_IN)).toEqual([]);
  });

  if (mcpServer.writes !== "record") throw new Error("an MCP server is written from its toml");
  const { write } = mcpServer;
  const types: [string, EnvType, string[]][] = [
    [
      "a reference at no key",
      { ...mcpServer, tomlRefs: [...mcpServer.tomlRefs, { path: "base[]", kind: "env" }] },
      ["the reference base[] starts at no key that the type takes"],
    ],
    [
      "a load that isn't declared",
      { ...mcpServer, write: async (fields, load) => ({ ...(await write(fields, load)), other: await load.env("@local/other") }) },
      ["write loads @local/conformance/entry/image, @local/other, and the config references @local/conformance/entry/image"],
    ],
    [
      "a record that references what wasn't loaded",
      { ...mcpServer, write: async (fields, load) => ({ ...(await write(fields, load)), other: { id: "@local/other", version: 1 } }) },
      ["the record references @local/other v1, which was not loaded"],
    ],
    [
      "keys that aren't closed, and values that aren't looked at",
      { ...mcpServer, accept: (config) => ({ ...config, image: "x", environment_name: "x", env_provider_type: "x" }) },
      [
        "a key that isn't declared is accepted",
        "environment_name: a value that is no string is accepted",
        "env_provider_type: a value that is no string is accepted",
      ],
    ],
    [
      "a record that isn't read back whole",
      {
        ...mcpServer,
        read: () => ({
          image: { artifact: "@local/conformance/entry/image", version: 5 },
          environment_name: "other",
          env_provider_type: "gateway",
        }),
      },
      ["what is read from a record and written again differs from it"],
    ],
  ];
  test.each(types)("%s is found", async (_name, type, findings) => {
    expect((await conformanceFindings(type, BUILT_IN)).filter((line) => findings.includes(line))).toEqual(findings);
  });
});
