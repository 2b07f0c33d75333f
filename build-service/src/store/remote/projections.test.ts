import { expect, test } from "vitest";
import type { ApiRequest } from "./api.ts";
import { remoteSide } from "./open.ts";
import { projectionsOver } from "./projections.ts";
import { endpointsOf } from "./setting.ts";

test("keys that KV names as unsuccessful are sent again, and named when that doesn't help", async () => {
  const sent: ApiRequest[] = [];
  // Stands for KV where it takes a request and writes one of its keys less.
  const api = async (request: ApiRequest) => {
    sent.push(request);
    return { status: 200, text: JSON.stringify({ success: true, result: { unsuccessful_keys: ["env:b"] } }), codes: [] };
  };
  const projections = projectionsOver(api, "KV namespace n of account a", "n", () => {});
  const values = new Map([
    ["env:a", "1"],
    ["env:b", "2"],
  ]);
  await expect(projections.putAll(values)).rejects.toMatchObject({
    message: "KV namespace n of account a: 1 of 2 keys were not written",
    why: '5 times KV named them as unsuccessful, the first is "env:b"',
    next: "run it again later: agent-env store sync",
  });
  expect(sent.map(({ body }) => body)).toEqual([
    [
      { key: "env:a", value: "1" },
      { key: "env:b", value: "2" },
    ],
    ...Array.from({ length: 4 }, () => [{ key: "env:b", value: "2" }]),
  ]);
});

test("a store whose namespace wasn't made yet isn't opened", () => {
  const keys = { bucket: "b", accessKeyId: "k", secretAccessKey: "s", apiToken: "t" };
  const setting = { kind: "cloudflare", accountId: "a", kvNamespaceId: null, ...keys, endpoints: endpointsOf("a", {}) } as const;
  expect(() => remoteSide(setting)).toThrow(
    expect.objectContaining({
      message: "[stores] records: kv_namespace_id is missing",
      why: "the gateway at the edge reads records from there",
      next: "make the namespace, which prints its id: agent-env store init",
      exitCode: 2,
    }),
  );
});
