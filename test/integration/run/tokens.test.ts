import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, type Ended, NO_DOCKER } from "../../fixtures/agent-env.ts";

type Deployed = {
  readonly deployment_id: string;
  readonly gateway_url: string;
  readonly mcp_url: string;
  readonly expires_at: string;
  readonly auth: { readonly mode: string; readonly keys: readonly Record<string, string>[] };
};

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const JSON_FIELDS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

describe("callers need tokens, with [gateway] auth and --auth, without Docker", () => {
  let folder = "";
  let cli: AgentEnv;
  let ran: Ended;
  let deployment: Deployed;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "agent-env-auth-"));
    const config = join(folder, "config.toml");
    writeFileSync(config, '[gateway]\nauth = "token"\n');
    cli = agentEnv({ ...NO_DOCKER, AGENT_ENV_CONFIG: config });
    ran = await cli.run("run", "hello", "--sandbox", "process");
    const [{ env_id: id }] = JSON.parse((await cli.run("env", "list", "--all", "--json")).out).deployments;
    const deployed = await cli.run("env", "deploy", "--id", id, "--sandbox", "process", "--auth", "token", "--json");
    expect(deployed).toMatchObject({ exitCode: 0 });
    deployment = JSON.parse(deployed.out).deployment;
  }, 180_000);
  afterAll(async () => {
    await cli.run("env", "stop", deployment.deployment_id);
    cli.remove();
    rmSync(folder, { recursive: true });
  });
  const keyFile = () => join(cli.stateDir, "keys", `${deployment.deployment_id}.json`);
  const token = async (...options: string[]) => {
    const said = await cli.run("gateway", "token", "--deployment", deployment.deployment_id, "--json", ...options);
    expect(said).toMatchObject({ exitCode: 0, err: "" });
    return JSON.parse(said.out);
  };
  const status = async (path: string, bearer?: string, method = "GET") => {
    const headers = { ...JSON_FIELDS, ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }) };
    return (await fetch(deployment.gateway_url + path, { method, headers, ...(method === "GET" ? {} : { body: PING }) })).status;
  };

  test("N4 a run's steps and verifiers reach it: seeds are loaded, and the script calls tools, pages and raw APIs", () => {
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(ran.out).toContain("tasks/sign.json: passed (verify 1)");
    expect(readdirSync(join(cli.stateDir, "keys"))).toEqual([`${deployment.deployment_id}.json`]);
  });

  test("N4 without a token nothing but its health is reached", async () => {
    const open = await Promise.all([status("/mcp", undefined, "POST"), status("/state"), status("/website/guestbook/"), status("/health")]);
    expect(open).toEqual([401, 401, 401, 200]);
  });

  test("W3 N4 an agent is told the gateway's own addresses of its sites, never those of the servers behind", async () => {
    const { token: agent } = await token();
    const headers = { ...JSON_FIELDS, authorization: `Bearer ${agent}` };
    const body = JSON.stringify({ action: "call_tool", tool_name: "list_website_urls" });
    const answer = await fetch(`${deployment.gateway_url}/step`, { method: "POST", headers, body });
    const told = `${deployment.gateway_url}/website/guestbook/`;
    expect(await answer.json()).toMatchObject({ content: [{ type: "text", text: JSON.stringify([told]) }], isError: false });
  });

  test("N4 gateway token prints one for each kind of caller, and it is worth just that", async () => {
    const [agent, grader, orchestrator] = await Promise.all([token(), token("--preset", "grader"), token("--preset", "orchestrator")]);
    expect(agent).toEqual({
      format_version: 1,
      deployment: deployment.deployment_id,
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      preset: "agent",
      scopes: ["tools", "sites"],
      role: "default",
      caller: expect.stringMatching(/^agent-[0-9a-f]{12}$/),
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const reach = async ({ token: bearer }: { token: string }) =>
      Promise.all([status("/mcp", bearer, "POST"), status("/state", bearer), status("/clock/state", bearer)]);
    expect([await reach(agent), await reach(grader), await reach(orchestrator)]).toEqual([
      [200, 403, 403],
      [200, 200, 403],
      [200, 200, 200],
    ]);
  });

  test("N4 a token's role and caller are those asked for, and it ends with its deployment", async () => {
    const said = await token("--role", "clerk", "--caller", "me", "--ttl", "1209600");
    expect([said.role, said.caller, said.expires_at]).toEqual(["clerk", "me", new Date(deployment.expires_at).toISOString()]);
    const plain = await cli.run("gateway", "token", "--deployment", deployment.deployment_id);
    expect(plain.out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  });

  test("N4 --page prints a link that opens the site's pages, once", async () => {
    const { out } = await cli.run("gateway", "token", "--deployment", deployment.deployment_id, "--page", "guestbook");
    const link = out.trim();
    const first = await fetch(link, { redirect: "manual" });
    expect([first.status, (await fetch(link, { redirect: "manual" })).status]).toEqual([303, 401]);
    const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
    const page = await fetch(new URL(first.headers.get("location") ?? "", link), { headers: { cookie } });
    expect(page.status).toBe(200);
  });

  test("N4 no record holds a secret, and the private key is its owner's alone", async () => {
    const shown = (await cli.run("env", "get-instance", "--id", deployment.deployment_id)).out;
    const { d: secret } = JSON.parse(readFileSync(keyFile(), "utf8"));
    expect([secret.length, statSync(keyFile()).mode & 0o777]).toEqual([43, 0o600]);
    expect(Object.keys(deployment.auth.keys[0] ?? {}).sort()).toEqual(["crv", "kid", "kty", "x"]);
    expect([shown, ran.out, ran.err].filter((text) => text.includes(secret) || /eyJ[\w-]{20}/.test(text))).toEqual([]);
  });

  test.each([
    [["--deployment", "nope"], 1, "nope: no such deployment"],
    [["--role", "a,b"], 2, '--role: "a,b" is no role of a token'],
    [["--page", "nope"], 1, '--page "nope": '],
    [["--page", "guestbook", "--ttl", "60", "--preset", "agent"], 2, "--page: --preset and --ttl can't go with it"],
  ])("gateway token %j is refused", async (options, exitCode, what) => {
    const all = options.includes("--deployment") ? options : ["--deployment", deployment.deployment_id, ...options];
    const said = await cli.run("gateway", "token", ...all);
    expect([said.exitCode, said.out, said.err.startsWith(what)]).toEqual([exitCode, "", true]);
  });

  test("N4 with the deployment its key goes, and no more tokens are printed", async () => {
    expect((await cli.run("env", "stop", deployment.deployment_id)).exitCode).toBe(0);
    expect(existsSync(keyFile())).toBe(false);
    const said = await cli.run("gateway", "token", "--deployment", deployment.deployment_id);
    expect([said.exitCode, said.err]).toEqual([
      1,
      `${deployment.deployment_id}: it is stopped\n  only what is up has callers\n  Next: agent-env env list\n`,
    ]);
  });
});
