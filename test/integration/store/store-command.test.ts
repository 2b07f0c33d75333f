import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, type Ended } from "../../fixtures/agent-env.ts";
import { MADE_NAMESPACE_ID } from "../../fixtures/cloudflare/api.ts";
import { type Facade, startFacade } from "../../fixtures/cloudflare/facade.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";

const SECRETS = ["facade-secret-access-key", "facade-api-token"];
const BUCKET = 'R2 bucket "shared-records" of account 023e105f4ecef8ad9ca31a8372d0c353';

let facade: Facade;
let agent: AgentEnv;
let folder: ReturnType<typeof temporaryFolder>;
beforeAll(async () => {
  facade = await startFacade({ empty: true });
});
afterAll(() => facade.close());
beforeEach(() => {
  folder = temporaryFolder();
  const { s3, api } = facade.setting.endpoints;
  agent = agentEnv({ AWS_ENDPOINT_URL_S3: s3, CLOUDFLARE_API_BASE_URL: api }, folder.path);
  return () => {
    agent.remove();
    folder[Symbol.dispose]();
  };
});

function configure(changes: Readonly<Record<string, string>> = {}): void {
  const { accountId, bucket, accessKeyId, secretAccessKey, apiToken } = facade.setting;
  const records = {
    ...{ kind: "cloudflare", account_id: accountId, bucket, access_key_id: accessKeyId },
    ...{ secret_access_key: secretAccessKey, api_token: apiToken, ...changes },
  };
  const path = join(folder.path, ".agentenv", "config.toml");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    `[stores.records]\n${Object.entries(records)
      .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
      .join("")}`,
  );
}

function keepsSecrets({ out, err }: Ended): void {
  expect(SECRETS.filter((secret) => `${out}${err}`.includes(secret))).toEqual([]);
}

describe("agent-env store", () => {
  test("init needs nothing where records are local, and makes nothing", async () => {
    const ended = await agent.run("store", "init");
    expect(ended).toMatchObject({
      exitCode: 0,
      out: `${agent.stateDir}: records are kept there, which needs nothing: it is made at the first write\n`,
    });
  });

  test("before init, what is missing is said, with init as the next step", async () => {
    configure();
    const ended = await agent.run("store", "sync");
    expect(ended).toMatchObject({
      exitCode: 2,
      err: "[stores] records: kv_namespace_id is missing\n  the gateway at the edge reads records from there\n  Next: make the namespace, which prints its id: agent-env store init\n",
    });
  });

  test("N7 init makes bucket and namespace once, and sync then fills KV; no secret is printed", async () => {
    configure();
    const first = await agent.run("store", "init");
    expect(first).toMatchObject({
      exitCode: 0,
      out: `${BUCKET}: made\nKV namespace ${MADE_NAMESPACE_ID}: made\nNext: write into [stores] records: kv_namespace_id = "${MADE_NAMESPACE_ID}"\n`,
    });
    configure({ kv_namespace_id: MADE_NAMESPACE_ID });
    const second = await agent.run("store", "init", "--json");
    expect(JSON.parse(second.out)).toEqual({
      format_version: 1,
      records: "cloudflare",
      bucket: { name: "shared-records", made: false },
      kv_namespace: { id: MADE_NAMESPACE_ID, made: false },
    });

    await facade.bindings.bucket.put("records/env/team/a/1.json", Buffer.from('{"id":"team/a","type":"multi","version":1}'));
    const sync = await agent.run("store", "sync", "--json");
    expect(JSON.parse(sync.out)).toEqual({
      format_version: 1,
      dry_run: false,
      stores: [
        { store: "local", added: [], corrected: [], removed: [], unchanged: 0 },
        { store: "cloudflare", added: ["env:team/a"], corrected: [], removed: [], unchanged: 0 },
      ],
    });
    expect(JSON.parse((await facade.bindings.namespace.get("env:team/a")) ?? "")).toMatchObject({ revision: 1 });
    const again = await agent.run("store", "sync");
    expect(again.out).toBe(
      "local: 0 added, 0 corrected, 0 removed, 0 as they were\ncloudflare: 0 added, 0 corrected, 0 removed, 1 as they were\n",
    );
    for (const ended of [first, second, sync, again]) keepsSecrets(ended);
  });

  test("N7 init with a token that may not make them says what to click", async () => {
    configure({ api_token: "wrong" });
    const ended = await agent.run("store", "init", "--verbose");
    expect(ended.exitCode).toBe(2);
    expect(ended.err).toContain(
      `${BUCKET}: GET /r2/buckets/shared-records\n  Cloudflare answered 401 (code 10000): the API token is wrong, or may not do that\n`,
    );
    expect(ended.err).toContain(
      'Next: give the token "Workers R2 Storage: Edit", or click it: https://dash.cloudflare.com/023e105f4ecef8ad9ca31a8372d0c353/r2/overview, "Create bucket", name "shared-records"\n',
    );
    keepsSecrets(ended);
  });

  test("N7 doctor tells of a configured store that can't work, with exit code 2", async () => {
    configure({ kv_namespace_id: MADE_NAMESPACE_ID, secret_access_key: "wrong" });
    const ended = await agent.run("doctor");
    expect(ended.exitCode).toBe(2);
    expect(ended.out).toContain(
      `missing   ${BUCKET}: GET store.json: R2 answered 403 SignatureDoesNotMatch: the access key is wrong, or may not do that\n            Next: look at access_key_id and secret_access_key of [stores] records, then: agent-env doctor\n`,
    );
    expect(ended.out).toContain(`ok        KV namespace ${MADE_NAMESPACE_ID} of account 023e105f4ecef8ad9ca31a8372d0c353: answers\n`);
    keepsSecrets(ended);
  });
});
