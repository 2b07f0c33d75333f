import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { post, served } from "../../test/fixtures/sdk/serving.ts";
import { AgentEnvError } from "./agent-env-error.ts";
import { environmentCard } from "./card.ts";
import { McpEnvironment } from "./mcp-environment.ts";

const items = () => new McpEnvironment(environmentCard({ name: "items" }));

/** An extension that gives back its params and the caller's role. */
const echoing = (input: z.ZodRawShape) =>
  items().extension(
    "urn:agentenv:set-errors/v1",
    { name: "set_errors" },
    { input, run: (params, { caller }) => ({ ...params, role: caller.role }) },
  );
const route = "/agentenv/ext/set_errors";
const rate = { rate: z.number(), on: z.boolean().default(false) };

describe("params", () => {
  test("V8 strings are converted, and the role is the caller's", async () => {
    const url = await served(echoing(rate));
    const answer = await post(url + route, { rate: "0.5", on: "YES" }, { "AgentEnv-Role": "alice" });
    expect([answer.status, await answer.json()]).toEqual([200, { rate: 0.5, on: true, role: "alice" }]);
  });

  test.each([
    ["a failed conversion", { rate: "abc" }, "rate: Invalid input: expected number, received string"],
    ["a missing param", {}, "rate: Invalid input: expected number, received undefined"],
    ["an unexpected param", { rate: 1, colour: "red" }, 'Unrecognized key: "colour"'],
    ["the context, sent as a param", { rate: 1, context: {} }, 'Unrecognized key: "context"'],
    ["a list", [1], "the body is not a JSON object"],
    ["broken JSON", "{", "the body is not JSON"],
  ])("V9 %s is 400", async (_name, body, message) => {
    const answer = await post((await served(echoing(rate))) + route, body);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { ok: false, error: { code: "invalid_params", message, retryable: false, applied: "no" } },
    ]);
  });

  test("V9 another verb is 405", async () => {
    const answer = await fetch((await served(echoing(rate))) + route);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("one path serves the verbs of several methods", async () => {
    const path = "/state";
    const env = items()
      .extension("urn:x:a/v1", { op: "read" }, { method: "GET", path, run: () => ({ read: true }) })
      .extension("urn:x:a/v1", { op: "write" }, { method: "PUT", path, run: () => ({ written: true }) });
    const url = `${await served(env)}${path}`;
    expect(await (await fetch(url)).json()).toEqual({ read: true });
    expect(await (await fetch(url, { method: "PUT" })).json()).toEqual({ written: true });
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    const other = await fetch(url, { method: "POST" });
    expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, PUT"]);
  });

  test("a GET takes its params from the query, of a repeated one the last", async () => {
    const env = items().extension("urn:x:a/v2", { op: "b" }, { method: "GET", input: { n: z.int() }, run: ({ n }) => ({ n }) });
    const answer = await fetch(`${await served(env)}/agentenv/ext/x/a/b?n=1&n=2`);
    expect(await answer.json()).toEqual({ n: 2 });
  });

  test("an empty body is no params", async () => {
    const answer = await post((await served(echoing({}))) + route, "");
    expect(await answer.json()).toEqual({ role: null });
  });

  test("of two role headers the first counts", async () => {
    const url = new URL((await served(echoing({}))) + route);
    const headers = ["Host", url.host, "AgentEnv-Role", "a", "AgentEnv-Role", "b"];
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    request(url, { method: "POST", headers }, async (answer) => resolve((await answer.toArray()).join("")))
      .on("error", reject)
      .end();
    expect(JSON.parse(await promise)).toEqual({ role: "a" });
  });
});

describe("V10 outcomes", () => {
  const answering = (run: () => unknown) => items().extension("urn:x:a/v1", { name: "go" }, { run });
  test.each([
    [
      "a throw is 500",
      () => {
        throw new Error("boom");
      },
      500,
      { ok: false, error: { code: "extension_failed", message: "boom", retryable: false, applied: "unknown" } },
    ],
    ["null is {}", () => null, 200, {}],
    [
      "a failure with a code has its status and five fields",
      () => Promise.reject(new AgentEnvError("no_stock", "nothing left", { status: 409, retryable: true, hint: "wait" })),
      409,
      { ok: false, error: { code: "no_stock", message: "nothing left", retryable: true, applied: "no", hint: "wait" } },
    ],
  ])("%s", async (_name, run, status, body) => {
    const answer = await post(`${await served(answering(run))}/agentenv/ext/go`, {});
    expect([answer.status, await answer.json()]).toEqual([status, body]);
  });
});

describe("what the card says", () => {
  test("V11 routes, verbs and schemas", () => {
    const env = items()
      .extension("urn:agentenv:computer-display/v1", { op: "get" }, { method: "GET", run: () => null })
      .extension(
        "urn:x:a/v2",
        { op: "b" },
        {
          description: "Does b.",
          input: { at: z.date(), n: z.number().nullable().default(null), u: z.union([z.string(), z.array(z.string())]) },
          run: () => null,
        },
      )
      .extension("urn:agentenv:disable-tool/v1", { name: "disable" }, { path: "/tools/disable", run: () => null });
    expect(env.card()).toMatchObject({
      capabilities: {
        extensions: [
          {
            uri: "urn:agentenv:computer-display/v1",
            params: {
              methods: {
                get: { method: "GET", endpoint: "/agentenv/ext/computer-display/get", request: { type: "object", properties: {} } },
              },
            },
          },
          {
            uri: "urn:x:a/v2",
            description: "Does b.",
            params: {
              methods: {
                b: {
                  method: "POST",
                  endpoint: "/agentenv/ext/x/a/b",
                  request: {
                    type: "object",
                    properties: { at: { type: "string", format: "date-time" }, n: { type: "number", default: null }, u: {} },
                    required: ["at", "u"],
                  },
                },
              },
            },
          },
          { uri: "urn:agentenv:disable-tool/v1", params: { endpoint: "/tools/disable", methods: { disable: { method: "POST" } } } },
        ],
      },
    });
  });

  test.each([
    ["the same method twice", "urn:x:a/v1", { name: "go" }, 'extension urn:x:a/v1 method "go" is there twice'],
    ["no URN", "x", { name: "go" }, 'extension x method "go"'],
  ])("%s is refused", (_name, uri, named, message) => {
    const env = items().extension("urn:x:a/v1", { name: "go" }, { run: () => null });
    expect(() => env.extension(uri, named, { run: () => null })).toThrow(message);
  });
});
