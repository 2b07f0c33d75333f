import { UserError } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { explainedAll, explainedKey } from "./explain.ts";
import type { ConfigTable } from "./read-file.ts";
import { settingsOf } from "./settings.ts";

const settings = (table: ConfigTable, env: Record<string, string> = {}) =>
  settingsOf({ file: { path: "/c.toml", by: "--config" }, table, warnings: [], env });

describe("config explain says which value counts and where it comes from", () => {
  const table = { run: { concurrency: 7 }, model: { base_url: "https://file" } };
  test.each([
    ["run.concurrency", {}, { key: "[run] concurrency", value: 7, from: "file", default: 4, variable: null, read_by: "run" }],
    ["[run] concurrency", {}, { key: "[run] concurrency", value: 7, from: "file" }],
    ["build.concurrency", {}, { value: 2, from: "default", default: 2 }],
    ["build.platform", {}, { value: null, from: "nothing", default: null }],
    ["model.base_url", {}, { value: "https://file", from: "file", variable: "LITELLM_BASE_URL", read_by: null }],
    ["model.base_url", { LITELLM_BASE_URL: "https://var" }, { value: "https://var", from: "environment" }],
  ])("%s with %j", (key, env, expected) => {
    expect(explainedKey(key, settings(table, env))).toMatchObject(expected);
  });

  test.each([
    ["nope", '"nope": the configuration has no such key', ""],
    ["run.nope", "run.nope: the configuration has no such key", '[run] has "concurrency"'],
    ["a b", "a b: the configuration has no such key", 'its sections are "stores", '],
  ])("%s is no key", (key, _what, why) => {
    try {
      explainedKey(key, settings({}));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      expect(error).toMatchObject({ message: `${key}: the configuration has no such key`, exitCode: 2 });
      expect(error.why).toContain(why);
      return;
    }
    throw new Error("it was explained");
  });
});

describe("secrets are never shown", () => {
  const records = {
    kind: "cloudflare",
    bucket: "b",
    kv_namespace_id: "k",
    access_key_id: "a",
    secret_access_key: "hush",
    api_token: "hush",
  };
  const table = {
    stores: { records, secret: { file: "secrets.toml" } },
    model: { api_key: "hush", headers: { "x-any": "hush" }, base_url: "https://me:hush@host/v1" },
    sandbox: { providers: { big: { type: "modal", token: "hush", region: "eu", nested: { password: "hush" } } } },
    plugins: { packages: [], "@acme/envs": { api_key: "hush", zone: "eu" } },
  };

  test("whatever is asked for", () => {
    const read = settings(table, { LITELLM_API_KEY: "hush", CLOUDFLARE_API_TOKEN: "hush" });
    const keys = [
      "model.api_key",
      "stores.records.api_token",
      "stores.records",
      "sandbox.providers.big.nested",
      'plugins."@acme/envs".api_key',
    ];
    const shown = JSON.stringify([explainedAll(read), ...keys.map((key) => explainedKey(key, read))]);
    expect(shown).not.toContain("hush");
    expect(shown).toContain('"zone":"eu"');
    expect(explainedKey("stores.secret", read).value).toEqual({ file: "secrets.toml" });
    expect(explainedKey("model.base_url", read).value).toBe("https://***@host/v1");
  });

  test("a reference is shown, what it falls back to is not", () => {
    const read = settings({ model: { api_key: "env:KEY?hush" }, agents: { default_a2a_agent_id: "secret:ID?hush" } }, { KEY: "hush" });
    expect([explainedKey("model.api_key", read).value, explainedKey("agents.default_a2a_agent_id", read).value]).toEqual([
      "env:KEY?***",
      "secret:ID?***",
    ]);
  });
});
