import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readSettings } from "../../build-service/src/config/settings.ts";
import { deployGateway, type GatewayDeploy } from "../../build-service/src/edge/deploy.ts";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";
import { type Facade, startFacade } from "../fixtures/cloudflare/facade.ts";
import { mainModule } from "../fixtures/cloudflare/workers-api.ts";
import { rawTo } from "../fixtures/gateway/client.ts";
import { startEdge } from "../fixtures/gateway/worker-host.ts";

const WORKER = "agent-env-gateway";
const LIMIT = { timeout: 180_000 };
const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});

describe("G10 gateway deploy", () => {
  test("--dry-run asks nobody: it says what would be uploaded, how large it is, and what isn't right", LIMIT, async () => {
    const config = configFile("[gateway]\ndomain = 'edge.example'\n", null);
    const cli = agentEnv({ ...NO_DOCKER, CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:1/client/v4", AGENT_ENV_CONFIG: config });
    clean.push(() => cli.remove());
    const ended = await cli.run("gateway", "deploy", "--dry-run", "--json");
    const { bundle, ...document } = JSON.parse(ended.out);
    expect(document).toEqual({
      format_version: 1,
      dry_run: true,
      deployed: false,
      worker: WORKER,
      url: "https://edge.example",
      bindings: [
        { name: "RECORDS", kind: "kv", resource: null },
        { name: "STORE", kind: "r2", resource: null },
        { name: "DEPLOYMENT", kind: "durable object", resource: "DeploymentObject" },
      ],
      routes: ["edge.example/*", "*.edge.example/*"],
      variables: ["GATEWAY_DOMAINS"],
      secrets: [],
      problems: [
        {
          what: "[stores] records",
          why: "records lie on this machine, where a gateway at Cloudflare doesn't see them",
          next: 'write records = {kind = "cloudflare", …} into [stores] of .agentenv/config.toml, then: agent-env store init',
        },
      ],
    });
    expect(bundle.bytes).toBeGreaterThan(bundle.gzip_bytes);
    expect(ended.exitCode).toBe(1);
  });

  test("with all that it needs it uploads with the configured bindings, and the Worker that was uploaded answers", LIMIT, async () => {
    const cloudflare = await facade();
    cloudflare.workers.zones = ["edge.example"];
    const asked: string[] = [];
    const done = await deploy(cloudflare, "gw.edge.example", async (url) => {
      asked.push(url);
      return await answerOfUploaded(cloudflare, new URL(url));
    });
    expect(done).toMatchObject({ problems: [], isDeployed: true, url: "https://gw.edge.example", secrets: [] });
    const script = cloudflare.workers.scripts.get(WORKER);
    expect(script?.metadata["bindings"]).toEqual(
      expect.arrayContaining([
        { name: "RECORDS", type: "kv_namespace", namespace_id: cloudflare.setting.kvNamespaceId },
        { name: "STORE", type: "r2_bucket", bucket_name: cloudflare.setting.bucket },
        { name: "DEPLOYMENT", type: "durable_object_namespace", class_name: "DeploymentObject" },
        { name: "GATEWAY_DOMAINS", type: "plain_text", text: "gw.edge.example" },
      ]),
    );
    expect(cloudflare.workers.routes.map(({ pattern, script }) => [pattern, script])).toEqual([
      ["gw.edge.example/*", WORKER],
      ["*.gw.edge.example/*", WORKER],
    ]);
    expect(asked).toEqual([expect.stringMatching(/^https:\/\/gw\.edge\.example\/d\/probe-[0-9a-f]{16}\/health$/)]);
  });

  test("without a domain it is at the account's workers.dev, and is waited for there", LIMIT, async () => {
    const cloudflare = await facade();
    const stop = new AbortController();
    const answering = deploy(
      cloudflare,
      null,
      async () => {
        stop.abort(new Error("asked"));
        return { status: 522, text: "" };
      },
      stop.signal,
    );
    await expect(answering).rejects.toThrow("asked");
    expect(cloudflare.workers.scripts.get(WORKER)?.isOnWorkersDev).toBe(true);
    expect(cloudflare.workers.routes).toEqual([]);
  });

  test("all that is wrong at the account is told at once, with the next step, and nothing is uploaded", LIMIT, async () => {
    const cloudflare = await facade({ empty: true });
    cloudflare.workers.denied = ["/workers/scripts"];
    const config = configFile("[gateway]\ndomain = 'gw.elsewhere.example'\n", cloudflare);
    const env = { ...NO_DOCKER, CLOUDFLARE_API_BASE_URL: cloudflare.setting.endpoints.api, AGENT_ENV_CONFIG: config };
    const cli = agentEnv(env);
    clean.push(() => cli.remove());
    const { accountId, bucket, kvNamespaceId } = cloudflare.setting;
    const ended = await cli.run("gateway", "deploy", "--json");
    expect(JSON.parse(ended.out)).toMatchObject({
      deployed: false,
      bundle: null,
      problems: [
        {
          what: `account ${accountId}: Workers`,
          why: "Cloudflare answered 403: the API token is wrong, or may not use it",
          next: 'give api_token of [stores] records the permission "Workers Scripts: Edit", and look at account_id',
        },
        {
          what: `KV namespace ${kvNamespaceId ?? "8d3b7d1c1fd34b6a9f3c2a5d2b5b0a11"} of account ${accountId}`,
          why: "Cloudflare answered 404",
          next: "leave kv_namespace_id out of [stores] records, then: agent-env store init",
        },
        {
          what: `R2 bucket "${bucket}" of account ${accountId}`,
          why: "Cloudflare answered 404",
          next: "make it: agent-env store init",
        },
        {
          what: '[gateway] domain: "gw.elsewhere.example"',
          why: "no zone that the API token sees covers it",
          next: "add the zone to the account, or leave the domain out for workers.dev",
        },
      ],
    });
    expect([ended.exitCode, cloudflare.workers.scripts.size]).toEqual([1, 0]);
    expect(ended.out + ended.err).not.toContain(cloudflare.setting.apiToken);
  });

  test("what wrangler is refused is told in its words, without the token", LIMIT, async () => {
    const cloudflare = await facade();
    cloudflare.fail({ kind: "answer", method: "PUT", status: 400, body: refusal(`script too large for ${cloudflare.setting.apiToken}`) });
    const failing = deploy(cloudflare, null, async () => ({ status: 500, text: "" }));
    const error = await failing.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ message: "gateway deploy: wrangler did not get through", exitCode: 1 });
    expect(JSON.stringify(error)).toContain("script too large for …");
  });
});

function refusal(message: string): string {
  return JSON.stringify({ success: false, errors: [{ code: 10027, message }], messages: [], result: null });
}

async function facade(options: { empty?: boolean } = {}): Promise<Facade> {
  const made = await startFacade(options);
  clean.push(() => made.close());
  return made;
}

function configFile(more: string, cloudflare: Facade | null): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-deploy-config-"));
  clean.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "config.toml");
  const { accountId, bucket, accessKeyId, secretAccessKey, apiToken } = cloudflare?.setting ?? {};
  const records = [
    "[stores.records]",
    'kind = "cloudflare"',
    `account_id = "${accountId}"`,
    `bucket = "${bucket}"`,
    'kv_namespace_id = "8d3b7d1c1fd34b6a9f3c2a5d2b5b0a11"',
    `access_key_id = "${accessKeyId}"`,
    `secret_access_key = "${secretAccessKey}"`,
    `api_token = "${apiToken}"`,
  ];
  writeFileSync(file, `${more}${cloudflare === null ? "" : records.join("\n")}\n`);
  return file;
}

type Get = (url: string) => Promise<{ status: number; text: string }>;

async function deploy(cloudflare: Facade, domain: string | null, get: Get, signal = new AbortController().signal): Promise<GatewayDeploy> {
  const config = configFile(domain === null ? "" : `[gateway]\ndomain = '${domain}'\n`, cloudflare);
  const env = { PATH: process.env["PATH"], CLOUDFLARE_API_BASE_URL: cloudflare.setting.endpoints.api, AGENT_ENV_CONFIG: config };
  const settings = readSettings({ env, cwd: tmpdir(), option: null });
  return await deployGateway({ settings, env, signal, onStep: () => undefined, get });
}

/** The uploaded Worker in workerd, asked as if it were at its address. */
async function answerOfUploaded(cloudflare: Facade, url: URL): Promise<{ status: number; text: string }> {
  const script = cloudflare.workers.scripts.get(WORKER);
  if (script === undefined) throw new Error("nothing was uploaded");
  const edge = await startEdge({ GATEWAY_DOMAINS: url.host }, mainModule(script));
  clean.push(() => edge.stop());
  const { status, text } = await rawTo(edge.port, url.pathname, { headers: { host: url.host } });
  return { status, text };
}
