import { describe, expect, test } from "vitest";
import { conformanceFindings } from "./conformance.ts";
import { environment } from "./environment.ts";
import { evalType } from "./eval.ts";
import { mcpServer } from "./mcp-server.ts";
import { BUILT_IN } from "./registry.ts";
import type { ArtifactType, EnvType } from "./type.ts";

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

  test("an eval that names other tasks than its config is found", async () => {
    const type = { ...evalType, write: async () => ({ tasks: [{ task_id: "@local/other", task_version: null }] }) };
    expect(await conformanceFindings(type, BUILT_IN)).toContain(
      "the record names the tasks @local/other, and the config names @local/conformance/entry/tasks/0, @local/conformance/entry/tasks/1",
    );
    const elsewhere = {
      ...evalType,
      tomlKeys: { ...evalType.tomlKeys, more: "list" as const },
      tomlRefs: [{ path: "more[]", kind: "task" as const }],
    };
    expect(await conformanceFindings(elsewhere, BUILT_IN)).toEqual(["the reference more[] of an eval doesn't start at tasks"]);
  });

  test("an artifact that references what it doesn't load is found", async () => {
    const type: ArtifactType = {
      ...environment,
      writes: "folder",
      childSuffixes: () => [],
      writeFolder: async () => ({ file: { id: "@local/x", version: 1 } }),
      read: () => ({}),
    };
    expect(await conformanceFindings(type, BUILT_IN)).toEqual([
      "write loads , and the config references @local/conformance/entry/file",
      "the record references @local/x v1, which was not loaded",
    ]);
  });

  test("an env type that reads its folder, and code that throws, are found", async () => {
    const writeFolder = async () => {
      throw new Error("no disk");
    };
    const folderType: EnvType = { ...mcpServer, writes: "folder", childSuffixes: () => [], writeFolder };
    expect(await conformanceFindings(folderType, BUILT_IN)).toEqual(["it is an env type and reads its folder, so no bundle can use it"]);
    const throwing: ArtifactType = { ...environment, writes: "folder", childSuffixes: () => [], writeFolder };
    expect(await conformanceFindings(throwing, BUILT_IN)).toEqual(["write fails: no disk"]);
  });
});
