import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readSettings, type Settings } from "./settings.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-env-config-")));
  file = join(folder, ".agentenv", "config.toml");
  mkdirSync(join(folder, ".agentenv"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function settings(text: string, env: Record<string, string> = {}, option: string | null = null): Settings {
  writeFileSync(file, text);
  return readSettings({ cwd: folder, env, option });
}

/** What a person is told, as one text. */
function refusal(read: () => unknown): { readonly what: string; readonly why: string; readonly next: string; readonly exitCode: number } {
  try {
    read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return {
      what: error.message.replaceAll(folder, "…"),
      why: error.why.replaceAll(folder, "…"),
      next: error.next,
      exitCode: error.exitCode,
    };
  }
  throw new Error("nothing was refused");
}

describe("where the file is", () => {
  test("the nearest one above the working folder", () => {
    writeFileSync(file, "[run]\nconcurrency = 7\n");
    const inside = join(folder, "a", "b");
    mkdirSync(inside, { recursive: true });
    const found = readSettings({ cwd: inside, env: {}, option: null });
    expect({ file: found.file, concurrency: found.run().concurrency }).toEqual({
      file: { path: file, by: "the working folder" },
      concurrency: 7,
    });
  });

  test("--config wins over AGENT_ENV_CONFIG, and that over the working folder", () => {
    const [option, variable] = [join(folder, "option.toml"), join(folder, "variable.toml")];
    writeFileSync(option, "[run]\nconcurrency = 1\n");
    writeFileSync(variable, "[run]\nconcurrency = 2\n");
    const read = (given: string | null) => settings("[run]\nconcurrency = 3\n", { AGENT_ENV_CONFIG: variable }, given).run().concurrency;
    expect([read("option.toml"), read(null)]).toEqual([1, 2]);
  });

  test.each([
    ["--config", { AGENT_ENV_CONFIG: "" }, "nowhere.toml", "name a file that is there, or leave --config out"],
    ["AGENT_ENV_CONFIG", { AGENT_ENV_CONFIG: "nowhere.toml" }, null, "correct AGENT_ENV_CONFIG, or unset it"],
  ])("one that %s names and that isn't there is exit code 2", (by, env, option, next) => {
    expect(refusal(() => settings("", env, option))).toEqual({
      what: "…/nowhere.toml: there is no such file",
      why: `${by} names it as the configuration`,
      next,
      exitCode: 2,
    });
  });
});

describe("what can't be read is exit code 2, with the path and what is known there", () => {
  test.each([
    [
      "[bulid]\n",
      'the file: unknown section "bulid" (probably "build"): known are stores, sandbox, envs, agents, model, build, run, verifiers, gateway, explorer, plugins',
    ],
    ["[build]\nconcurency = 2\n", '[build]: unknown key "concurency" (probably "concurrency"): known are platform, concurrency, timeout_s'],
    ['[build]\nconcurrency = "x"\n', '[build] concurrency: expected a whole number, and found "x"'],
    ['[build]\nconcurrency = "env:N"\n', '[build] concurrency: expected a whole number, and found "env:N"'],
    ["[build]\nconcurrency = 0\n", "[build] concurrency: expected 1 or more, and found 0"],
    ["[build]\nconcurrency = 1.5\n", "[build] concurrency: expected a whole number, and found 1.5"],
    ["[explorer]\nport = 70000\n", "[explorer] port: expected 65535 or less, and found 70000"],
    ['[gateway]\nmode = "both"\n', '[gateway] mode: expected "container" or "edge", and found "both"'],
    ['[sandbox]\ndefault = ""\n', "[sandbox] default: is empty"],
    ['[model.roles]\nagnet = "x"\n', '[model] roles: unknown key "agnet" (probably "agent"): known are agent, user, judge'],
    [
      "[model.params]\nmodel = 1\n",
      "[model] params: may not set model, messages, api_key, api_base, user, metadata, timeout, response_format",
    ],
    ["[sandbox.providers.big]\ncpu = 8\n", "[sandbox.providers.big] type: is missing: it takes a string"],
    [
      '[stores]\nrecords = "s3"\n',
      '[stores] records: expected "local" or a table of kind, account_id, bucket, kv_namespace_id, access_key_id, secret_access_key, api_token, and found "s3"',
    ],
    [
      '[stores.records]\nkind = "cloudflare"\nbucket = "b"\nkv_namespace_id = "k"\naccess_key_id = "a"\n',
      "[stores.records] secret_access_key: is missing: it takes a string",
    ],
    ['[stores.image]\nkind = "r2"\nurl = "u"\nuser = "x"\n', '[stores] image: unknown key "user": known are kind, url'],
    ['[plugins]\n"@acme/envs" = 1\n', '[plugins] "@acme/envs": expected a table, and found 1'],
    ['[plugins."@acme/envs"]\nnames = 1\n', '[plugins."@acme/envs"] names: expected a list, and found 1'],
    ["stores = 1\n", "[stores]: expected a table, and found 1"],
  ])("%j", (text, message) => {
    expect(refusal(() => settings(text))).toEqual({
      what: `…/.agentenv/config.toml: ${message}`,
      why: "the configuration is read before anything is done",
      next: "correct the file: `agent-env config explain` lists the keys",
      exitCode: 2,
    });
  });

  test("all that is wrong is said at once", () => {
    expect(refusal(() => settings('[run]\nconcurrency = 0\nx = 1\n[gateway]\nauth = "none"\n'))).toMatchObject({
      what: "…/.agentenv/config.toml: [run] concurrency: expected 1 or more, and found 0",
      why: 'and [run]: unknown key "x": known are concurrency\nand [gateway] auth: expected "open" or "token", and found "none"',
    });
  });

  test("a file that isn't TOML", () => {
    expect(refusal(() => settings("[run\n")).what).toMatch(/^…\/\.agentenv\/config\.toml: is no valid TOML: .* \(line 1 column \d+\)$/);
  });

  test("a byte order mark is allowed", () => {
    expect(settings("\ufeff[run]\nconcurrency = 9\n").run().concurrency).toBe(9);
  });

  test("keys of the original are listed in one warning", () => {
    expect(settings('[stores]\ndocument = "x"\nobject = "y"\n').warnings).toEqual([
      `${file}: says nothing here, and is ignored: [stores] document, [stores] object`,
    ]);
  });
});

describe("which value counts", () => {
  test("without a file the defaults", () => {
    rmSync(join(folder, ".agentenv"), { recursive: true });
    const { file: found, ...read } = readSettings({ cwd: folder, env: {}, option: null });
    expect(found).toBeNull();
    expect({
      stores: read.stores(),
      sandbox: { ...read.sandbox(), presets: read.sandbox().presets.names },
      envs: read.envs(),
      agents: read.agents(),
      model: read.model(),
      build: read.build(),
      run: read.run(),
      verifiers: read.verifiers(),
      gateway: read.gateway(),
      explorer: read.explorer(),
      packages: read.plugins().packages,
    }).toEqual({
      stores: { records: "local", image: "none" },
      sandbox: { default: "auto", agent_default: "auto", vm_image: "debian:bookworm-slim", attribution: {}, presets: [] },
      envs: {
        default_gateway_env_id: "default",
        default_service_db_env_id: "default-db",
        default_website_browser_env_id: "website-browser",
      },
      agents: {},
      model: { roles: {}, params: {}, headers: {} },
      build: { concurrency: 2, timeout_s: 3600 },
      run: { concurrency: 4 },
      verifiers: { python: "python3", timeout_s: 600, memory_mb: 1024 },
      gateway: { mode: "container", auth: "open" },
      explorer: { port: 8234 },
      packages: [],
    });
  });

  test("a variable wins over the file", () => {
    const text = '[model]\nbase_url = "file"\napi_key = "file"\n';
    expect(settings(text, { LITELLM_BASE_URL: "variable", LITELLM_API_KEY: "" }).model()).toMatchObject({
      base_url: "variable",
      api_key: "file",
    });
  });

  test("env: and secret: values are resolved where they are used", () => {
    const read = settings(
      '[sandbox]\ndefault = "env:SANDBOX"\n[verifiers]\npython = "env:PY?python3.12"\n[agents]\ndefault_a2a_agent_id = "secret:AGENT"\n',
      {
        AGENT: "one",
      },
    );
    expect([read.verifiers().python, read.agents().default_a2a_agent_id]).toEqual(["python3.12", "one"]);
    expect(refusal(() => read.sandbox())).toEqual({
      what: '…/.agentenv/config.toml: [sandbox] default: "env:SANDBOX" has no value',
      why: "the environment variable SANDBOX isn't set",
      next: 'set SANDBOX, or write "env:SANDBOX?<default>"',
      exitCode: 2,
    });
  });

  test("a sandbox's preset is resolved when it is asked for, and no sooner", () => {
    const text = '[sandbox.providers.big]\ntype = "modal"\nkey = "env:KEY"\n';
    expect(settings(text, { KEY: "k" }).sandbox().presets.settings("big")).toEqual({ type: "modal", key: "k" });
    const { default: chosen, presets } = settings(text).sandbox();
    expect([chosen, presets.names, presets.settings("small")]).toEqual(["auto", ["big"], null]);
    expect(refusal(() => presets.settings("big")).what).toBe(
      '…/.agentenv/config.toml: [sandbox.providers.big] key: "env:KEY" has no value',
    );
  });

  test("what a reference stands for is judged as if it were written", () => {
    const read = settings('[gateway]\nmode = "env:MODE"\n', { MODE: "both" });
    expect(refusal(() => read.gateway()).what).toBe(
      '…/.agentenv/config.toml: [gateway] mode: expected "container" or "edge", and found "both"',
    );
  });

  test("secrets come from a file that only its owner reads", () => {
    const secrets = join(folder, ".agentenv", "secrets.toml");
    writeFileSync(secrets, 'key = "hush"\n', { mode: 0o600 });
    const read = settings('[stores.secret]\nfile = "secrets.toml"\n[model]\napi_key = "secret:key"\nbase_url = "secret:url"\n', {
      LITELLM_BASE_URL: "u",
      key: "not this",
    });
    expect(read.model().api_key).toBe("hush");
    chmodSync(secrets, 0o644);
    expect(refusal(() => read.model())).toEqual({
      what: "…/.agentenv/secrets.toml: can't be used as the secrets file",
      why: "others can read it",
      next: `chmod 600 ${secrets}`,
      exitCode: 2,
    });
  });

  test("a Cloudflare store takes the account and the token from variables, or says which is missing", () => {
    const text =
      '[stores.records]\nkind = "cloudflare"\nbucket = "b"\nkv_namespace_id = "k"\naccess_key_id = "a"\nsecret_access_key = "s"\n';
    const env = { CLOUDFLARE_ACCOUNT_ID: "account", CLOUDFLARE_API_TOKEN: "token" };
    expect(settings(text, env).stores().records).toEqual({
      kind: "cloudflare",
      account_id: "account",
      bucket: "b",
      kv_namespace_id: "k",
      access_key_id: "a",
      secret_access_key: "s",
      api_token: "token",
    });
    expect(refusal(() => settings(text).stores())).toEqual({
      what: "…/.agentenv/config.toml: [stores.records] account_id: is missing",
      why: "records are kept on Cloudflare",
      next: "write it there, or set CLOUDFLARE_ACCOUNT_ID",
      exitCode: 2,
    });
  });

  test("a plugin sees its own table without what is ours", () => {
    const { own, names } = settings(
      '[plugins."@acme/envs"]\nnames = ["desktop"]\nzone = "env:ZONE?eu"\n[plugins.other]\nx = 1\n',
    ).plugins();
    expect({ own: own("@acme/envs"), none: own("third"), names }).toEqual({
      own: { zone: "eu" },
      none: {},
      names: { "@acme/envs": ["desktop"], other: [] },
    });
  });
});

describe("the original's variables for stores", () => {
  const variables = ["AGENT_ENV_DOCUMENT_STORE", "AGENT_ENV_OBJECT_STORE", "AGENT_ENV_IMAGE_STORE", "AGENT_ENV_SECRET_STORE"];
  test.each(variables)("%s: local is fine, anything else is exit code 2", (name) => {
    expect(settings("", { [name]: "local" }).run().concurrency).toBe(4);
    expect(refusal(() => settings("", { [name]: "mongo" }))).toEqual({
      what: `${name}: "mongo" chooses no store here`,
      why: "the variable is the original's, and only local is accepted in it",
      next: "unset it, and write the store into [stores] of .agentenv/config.toml",
      exitCode: 2,
    });
  });
});
