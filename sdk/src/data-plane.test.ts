import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Grant, Part } from "@agent-env/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { post, served } from "../../test/fixtures/sdk/serving.ts";
import { environmentCard } from "./card.ts";
import type { DataHandlers } from "./data-plane.ts";
import { McpEnvironment } from "./mcp-environment.ts";
import { dataPart, filePart, jsonData, textPart } from "./parts.ts";

/** An environment that holds a list of titles. */
function items(): McpEnvironment {
  let titles: string[] = [];
  const handlers = jsonData(z.object({ items: z.array(z.string()) }), {
    reset: () => {
      titles = [];
    },
    add: (seed) => titles.push(...seed.items),
    get: () => ({ items: titles }),
  });
  return environmentWith(handlers);
}

const environmentWith = (handlers: DataHandlers) => new McpEnvironment(environmentCard({ name: "items" })).data(handlers);

/** The answer to one data-plane request, which is always HTTP 200. */
async function asked(url: string, body: unknown): Promise<unknown> {
  const answer = await post(`${url}/agentenv`, body);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json");
  return await answer.json();
}
const call = (method: string, params?: unknown) => ({ jsonrpc: "2.0", id: 1, method, params });
const error = (id: unknown, code: number, message: string) => ({ jsonrpc: "2.0", id, error: { code, message } });

describe("requests that are none", () => {
  test.each([
    ["V4 an empty body", "", error(null, -32600, "invalid request")],
    ["V4 broken JSON", "{bad", error(null, -32700, "parse error")],
    ["V4 a batch", "[]", error(null, -32600, "invalid request")],
    ["V4 no version", '{"id":7,"method":"data/get"}', error(7, -32600, "invalid request")],
    ["an older version", '{"jsonrpc":"1.0","id":7,"method":"data/get"}', error(7, -32600, "invalid request")],
    ["no method", '{"jsonrpc":"2.0","id":7}', error(7, -32600, "invalid request")],
    ["a method that is no string", '{"jsonrpc":"2.0","id":7,"method":1}', error(7, -32600, "invalid request")],
    ["a method that is not served", '{"jsonrpc":"2.0","id":"x","method":"data/nope"}', error("x", -32601, "method not found: data/nope")],
  ])("%s", async (_name, body, expected) => {
    expect(await asked(await served(items()), body)).toEqual(expected);
  });

  test("another verb is 405", async () => {
    const answer = await fetch(`${await served(items())}/agentenv`);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("a method without a handler is not served", async () => {
    const url = await served(environmentWith({ get: () => [] }));
    expect(await asked(url, call("data/reset"))).toEqual(error(1, -32601, "method not found: data/reset"));
    expect(await asked(url, call("data/get"))).toEqual({ jsonrpc: "2.0", id: 1, result: { parts: [] } });
  });
});

describe("params", () => {
  test.each([[null], [undefined], [{}], [[]], [""], ["x"], [{ x: 1 }]])("V5 data/get takes %j, and no id", async (params) => {
    const answer = await asked(await served(items()), { jsonrpc: "2.0", method: "data/get", params });
    expect(answer).toEqual({ jsonrpc: "2.0", id: null, result: { parts: [{ kind: "data", data: { items: [] } }] } });
  });

  test.each([
    ["V6 no part", { parts: [] }, "parts: Too small: expected array to have >=1 items"],
    ["V6 a kind that is none", { parts: [{ kind: "video" }] }, "parts[0].kind: "],
    ["V6 a list", [1], "Invalid input: expected object, received array"],
    ["nothing", undefined, "parts: Invalid input: expected array, received undefined"],
    ["a file without bytes and URI", { parts: [{ kind: "file", file: {} }] }, "parts[0].file: "],
  ])("data/add refuses %s with a detail", async (_name, params, detail) => {
    expect(await asked(await served(items()), call("data/add", params))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32602, message: "invalid_request", data: { detail: expect.stringContaining(detail) } },
    });
  });
});

describe("what handlers do", () => {
  test("what is added is there until a reset", async () => {
    const url = await served(items());
    expect(await asked(url, call("data/add", { parts: [dataPart({ items: ["tea"] })] }))).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    await asked(url, call("data/add", { parts: [textPart('{"items":["milk"]}')] }));
    expect(await asked(url, call("data/get"))).toMatchObject({ result: { parts: [{ kind: "data", data: { items: ["tea", "milk"] } }] } });
    expect(await asked(url, call("data/reset", "ignored"))).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(await asked(url, call("data/get"))).toMatchObject({ result: { parts: [{ data: { items: [] } }] } });
  });

  test.each(["reset", "add", "get"] as const)("a throw in %s is -32000 with its text and code", async (operation) => {
    const fails = () => Promise.reject(new Error("no room"));
    const url = await served(environmentWith({ reset: fails, add: fails, get: fails }));
    expect(await asked(url, call(`data/${operation}`, { parts: [textPart("x")] }))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32000, message: "no room", data: { code: `${operation}_failed` } },
    });
  });

  test("a document of another shape is not added, and neither is what came with it", async () => {
    const url = await served(items());
    const parts = [dataPart({ items: ["tea"] }), dataPart({ items: [7] })];
    expect(await asked(url, call("data/add", { parts }))).toMatchObject({
      error: {
        code: -32000,
        message: "the data isn't as this environment takes it: items[0]: Invalid input: expected string, received number",
      },
    });
    expect(await asked(url, call("data/get"))).toMatchObject({ result: { parts: [{ data: { items: [] } }] } });
  });

  test("absent members of a part are left out, nulls in its data stay", async () => {
    const parts: Part[] = [
      { kind: "file", file: { uri: "a", mimeType: null }, metadata: null },
      { kind: "data", data: { at: null } },
    ];
    const url = await served(environmentWith({ get: () => parts }));
    expect(await asked(url, call("data/get"))).toMatchObject({
      result: {
        parts: [
          { kind: "file", file: { uri: "a" } },
          { kind: "data", data: { at: null } },
        ],
      },
    });
  });
});

describe("all four forms of a seed are taken", () => {
  const seed = '{"items":["tea"]}';
  const loaded = { result: { parts: [{ data: { items: ["tea"] } }] } };
  const added = async (part: unknown) => {
    const url = await served(items());
    expect(await asked(url, call("data/add", { parts: [part] }))).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    return await asked(url, call("data/get"));
  };

  test("inline data", async () => expect(await added(dataPart({ items: ["tea"] }))).toMatchObject(loaded));
  test("a file with bytes", async () => expect(await added(filePart(Buffer.from(seed), { name: "seed.json" }))).toMatchObject(loaded));
  test("a file:// URI", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "seed-")), "a seed.json");
    await writeFile(path, seed);
    expect(await added({ kind: "file", file: { uri: pathToFileURL(path).href } })).toMatchObject(loaded);
  });
  test("an address", async () => {
    const server = createServer((_request, response) => response.end(seed)).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await added({ kind: "file", file: { uri: `http://127.0.0.1:${port}/seed.json` } })).toMatchObject(loaded);
  });
});

describe("grants", () => {
  const grant: Grant = {
    root_path: "runs/1",
    expires_at: "2026-03-01T09:00:00Z",
    max_objects: 2,
    max_object_bytes: 10,
    max_total_bytes: 20,
    write: { kind: "http-post-policy", url: "https://store.example/", fields: { policy: "s3cret" }, path_field: "key", file_field: "file" },
  };
  const objectPart = (uri: string, path: string): Part => ({
    kind: "file",
    file: { uri },
    metadata: { "urn:agentenv:data-objects/v1": { path } },
  });
  const writing = (part: Part) => environmentWith({ get: () => [textPart("inline")], getUnderGrant: () => [part] });

  test("a server that takes them says so on its card, and gets them", async () => {
    const env = writing(objectPart("a/b.json", "a/b.json"));
    expect(env.card()).toMatchObject({ capabilities: { extensions: [{ uri: "urn:agentenv:data-objects/v1" }] } });
    const url = await served(env);
    expect(await asked(url, call("data/get", { write_namespace: grant }))).toMatchObject({
      result: { parts: [{ file: { uri: "a/b.json" } }] },
    });
    expect(await asked(url, call("data/get"))).toMatchObject({ result: { parts: [{ text: "inline" }] } });
  });

  test("V7 a bad grant is refused by the names of its fields, without a value", async () => {
    const answer = await asked(
      await served(writing(textPart(""))),
      call("data/get", { write_namespace: { root_path: "../s3cret", colour: "s3cret" } }),
    );
    expect(JSON.stringify(answer)).not.toContain("s3cret");
    expect(answer).toMatchObject({ error: { code: -32602, message: "invalid_request" } });
    const detail = JSON.stringify(answer);
    for (const field of ["root_path", "expires_at", "max_objects", "max_object_bytes", "max_total_bytes", "write", "colour"])
      expect(detail).toContain(field);
  });

  test.each([
    ["max_objects", 0],
    ["max_objects", true],
    ["max_total_bytes", 1.5],
    ["expires_at", "2026-03-01T09:00:00+01:00"],
    ["root_path", "a//b"],
    ["write", { ...grant.write, url: "http://store.example/" }],
    ["write", { ...grant.write, more: 1 }],
  ])("%s %j is refused", async (field, value) => {
    const answer = await asked(await served(writing(textPart(""))), call("data/get", { write_namespace: { ...grant, [field]: value } }));
    expect(answer).toMatchObject({ error: { code: -32602, data: { detail: expect.stringContaining(field) } } });
  });

  test.each([
    ["../a", "../a"],
    ["a", "b"],
    ["a\\b", "a\\b"],
    ["/a", "/a"],
    ["a//b", "a//b"],
  ])("an object at %j named %j is not handed out", async (uri, path) => {
    const answer = await asked(await served(writing(objectPart(uri, path))), call("data/get", { write_namespace: grant }));
    expect(answer).toMatchObject({ error: { code: -32000, data: { code: "get_failed" } } });
  });
});
