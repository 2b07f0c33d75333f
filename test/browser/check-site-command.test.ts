import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DeploymentRecord, SiteReport, siteReportKey, siteReportPageKey } from "@agent-env/protocol";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { encodedId } from "../../build-service/src/bundle/ids.ts";
import { readRecord } from "../../build-service/src/deploy/record.ts";
import { openLocalStore } from "../../build-service/src/store/local.ts";
import { type AgentEnv, agentEnv } from "../fixtures/agent-env.ts";
import { CHROMIUM, noChromium } from "../fixtures/chromium.ts";
import { type CommandLine, commandLine } from "../fixtures/command-line.ts";
import type { RunningSite } from "../fixtures/real-sites.ts";
import { type Answer, startSite } from "./check-site-support.ts";

const HELLO = fileURLToPath(new URL("../../examples/hello/", import.meta.url));
const HTML = "text/html";
const LONG = { timeout: 300_000 };

/** What is left of deployments in a state folder. */
const left = (stateDir: string): string[] => (existsSync(join(stateDir, "deployments")) ? readdirSync(join(stateDir, "deployments")) : []);

describe.skipIf(noChromium !== "")(`N5 check-site of a stored env${noChromium && ` (${noChromium})`}`, () => {
  let agent: AgentEnv;
  beforeAll(async () => {
    agent = agentEnv({ AGENT_ENV_CHROMIUM: CHROMIUM }, HELLO);
    const ran = await agent.run("run", ".", "--sandbox", "process");
    expect(ran, ran.err).toMatchObject({ exitCode: 0 });
  }, LONG.timeout);
  afterAll(() => agent.remove());

  const noBrowser = { AGENT_ENV_CHROMIUM: "/nowhere/chromium" };
  async function inStore<T>(read: (store: Awaited<ReturnType<typeof openLocalStore>>) => Promise<T>): Promise<T> {
    const store = await openLocalStore(agent.stateDir, "read");
    try {
      return await read(store);
    } finally {
      await store.close();
    }
  }

  test("it deploys the env, stores report and page beside its record, and leaves nothing behind", LONG, async () => {
    const ended = await agent.run("check-site", "hello", "--sandbox", "process", "--json");
    expect(ended, ended.err).toMatchObject({ exitCode: 0 });
    const report = SiteReport.parse(JSON.parse(ended.out));
    expect(report.sites.map(({ site, verdict, findings, notes }) => ({ site, verdict, findings, notes }))).toEqual([
      { site: "guestbook", verdict: "any", findings: [], notes: [] },
    ]);
    const { id = "", version = 0 } = report.env ?? {};
    expect(version).toBe(1);
    await inStore(async ({ objects }) => {
      const stored = await objects.get(siteReportKey(encodedId(id), 1));
      expect(JSON.parse(new TextDecoder().decode(stored?.bytes))).toEqual(report);
      const page = new TextDecoder().decode((await objects.get(siteReportPageKey(encodedId(id), 1)))?.bytes);
      expect(page).toMatch(/^<!doctype html>[\s\S]*<h2>guestbook <span class="verdict any">any<\/span><\/h2>/);
    });
    expect(left(agent.stateDir)).toEqual([]);
  });

  test("B12 interrupted in the midst of a walk, it takes everything down", LONG, async () => {
    const { child, ended, seen } = agent.start("check-site", "hello", "--sandbox", "process", "--again");
    await seen("guestbook: host mode: ");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ exitCode: 130, out: "" });
    expect(left(agent.stateDir)).toEqual([]);
  });

  test("a second check of the same images is the first one's report; --again needs a browser", LONG, async () => {
    const { run, remove } = agentEnv({ ...noBrowser, AGENT_ENV_STATE_DIR: agent.stateDir }, HELLO);
    const reused = await run("check-site", "hello", "--sandbox", "process");
    expect(reused).toMatchObject({ exitCode: 0, err: "" });
    expect(reused.out).toMatch(
      /^guestbook: any: works on a host of its own and under a prefix\n {2}pages: 1 in host mode, 1 under the prefix\nchecked \S+Z with the same images and options; --again checks it anew\n$/,
    );
    const again = await run("check-site", "hello", "--sandbox", "process", "--again");
    expect(again.exitCode).toBe(2);
    expect(again.err).toContain("/nowhere/chromium: the browser did not start\n");
    expect(left(agent.stateDir)).toEqual([]);
    remove();
  });

  test("a deployment's record has the verdict; one that runs, with tokens, is checked where it is and keeps its data", LONG, async () => {
    const deployed = await agent.run("env", "deploy", "--id", "hello", "--sandbox", "process", "--auth", "token", "--json");
    expect(deployed, deployed.err).toMatchObject({ exitCode: 0 });
    const deployment: DeploymentRecord = JSON.parse(deployed.out).deployment;
    expect(deployment.sites).toEqual({ guestbook: { verdict: "any" } });
    const id = deployment.deployment_id ?? "";
    const { revision: before } = deployment;

    const { out: token } = await agent.run("gateway", "token", "--deployment", id, "--preset", "orchestrator");
    const plane = async (method: string, params: object): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token.trim()}`, "content-type": "application/json" };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      return (await fetch(`${deployment.gateway_url}/agentenv`, { method: "POST", headers, body })).json();
    };
    const entry = { author: "Ada", text: "First!", at: "2026-03-01T09:00:00Z" };
    await plane("data/add", { parts: [{ kind: "data", data: { entries: [entry] } }] });
    const data = await plane("data/get", {});
    expect(JSON.stringify(data)).toContain("First!");

    const output = join(agent.home, "out");
    const acts = join(agent.home, "sign.txt");
    writeFileSync(acts, 'fill "[name=author]" Bob\nfill "[name=text]" Second!\nclick button\nwait "Bob wrote"\n');
    const address = deployment.website_frontend_urls["guestbook"] ?? "";
    const ended = await agent.run("check-site", address, "--output", output, "--act", acts);
    expect(ended, ended.err).toMatchObject({ exitCode: 0 });
    // What it wrote at each walk was written at another time, and is gone.
    expect(ended.out).toMatch(/^guestbook: any: /);
    expect(await plane("data/get", {})).toEqual(data);
    expect(readFileSync(join(output, "site.html"), "utf8")).toContain("guestbook");
    expect(SiteReport.parse(JSON.parse(readFileSync(join(output, "site.json"), "utf8"))).env?.version).toBe(1);
    await inStore(async (store) => {
      const record = await readRecord(store, id);
      expect(record).toMatchObject({ status: "up", sites: { guestbook: { verdict: "any" } } });
      expect(record?.revision).toBeGreaterThan(before);
    });
    expect((await agent.run("env", "stop", id)).exitCode).toBe(0);
  });
});

describe.skipIf(noChromium !== "")(`N5 check-site of a site that runs${noChromium && ` (${noChromium})`}`, () => {
  let cli: CommandLine;
  let site: RunningSite;
  beforeAll(() => {
    cli = commandLine({}, { AGENT_ENV_CHROMIUM: CHROMIUM });
  });
  afterEach(async () => {
    await site.close();
    expect(left(join(cli.folder, "state"))).toEqual([]);
  });
  afterAll(() => cli[Symbol.dispose]());

  async function checkedSite(paths: Readonly<Record<string, Answer>>, ...options: string[]) {
    site = await startSite(paths);
    const { exitCode, out, err } = await cli.run("check-site", site.url, "--json", ...options);
    const report = SiteReport.safeParse(JSON.parse(out));
    return { exitCode, err, report: report.data, said: report.success ? null : JSON.parse(out) };
  }

  test("what changes by itself is no finding, and other hosts are not reached", LONG, async () => {
    let visits = 0;
    const counted: Answer = (_request, response) =>
      response
        .writeHead(200, { "content-type": HTML })
        .end(`<!doctype html><title>Counter</title><h1>visit ${++visits}</h1><p>always</p><img src="http://cdn.example/a.png" alt="">`);
    const { exitCode, report } = await checkedSite({ "/": counted });
    expect({ exitCode, env: report?.env, address: report?.address }).toEqual({ exitCode: 0, env: null, address: site.url });
    const [found] = report?.sites ?? [];
    expect([found?.verdict, found?.findings, found?.prefix?.elsewhere]).toEqual(["any", [], ["http://cdn.example"]]);
  });

  test("a site that fails on its own host is broken: exit code 1, unless that is all that is required", LONG, async () => {
    const paths: Record<string, Answer> = { "/": (_request, response) => response.writeHead(500).end("no") };
    const { exitCode, report } = await checkedSite(paths);
    const [{ verdict, findings, prefix } = { verdict: null, findings: [], prefix: null }] = report?.sites ?? [];
    expect({ exitCode, verdict, prefix }).toEqual({ exitCode: 1, verdict: "broken", prefix: null });
    expect(findings).toEqual([
      {
        kind: "failed-load",
        mode: "host",
        page: "/",
        pages: 1,
        text: "page /: answered 500",
        at: null,
        layer: null,
        advice: "mend the site: in host mode the gateway passes its pages as they are",
      },
    ]);
    expect((await cli.run("check-site", site.url, "--require", "broken")).exitCode).toBe(0);
  });

  test("in one mode there is no verdict, and links are walked five levels deep, so many pages as are asked for", LONG, async () => {
    const levels = Array.from({ length: 8 }, (_, at): [string, Answer] => [
      at === 0 ? "/" : `/${at}`,
      [HTML, `<title>${at}</title><a href="${at + 1}">on</a>`],
    ]);
    const { exitCode, report } = await checkedSite(Object.fromEntries(levels), "--mode", "host");
    const [found] = report?.sites ?? [];
    expect([exitCode, found?.verdict, found?.prefix]).toEqual([0, null, null]);
    expect(found?.host?.pages.map(({ path }) => path)).toEqual(["/", "/1", "/2", "/3", "/4"]);
    expect(found?.host?.cut_short).toBe("there are more than 30 pages, or some beyond 5 links");
    const few = await cli.run("check-site", site.url, "--json", "--mode", "prefix", "--pages", "2");
    expect(JSON.parse(few.out).sites[0].prefix.pages.map(({ path }: { path: string }) => path)).toEqual(["/", "/1"]);
  });

  test("an act that can't be done on the site's own host is the script's mistake, told with its line", LONG, async () => {
    site = await startSite({ "/": [HTML, "<title>Shop</title>"] });
    writeFileSync(join(cli.folder, "buy.txt"), 'goto /\n\nclick "#buy"\n');
    const { exitCode, err } = await cli.run("check-site", site.url, "--act", "buy.txt");
    expect(exitCode).toBe(1);
    expect(err).toMatch(
      /buy\.txt:3: click "#buy": it can't be done in host mode\n {2}on page \/: nothing that fits was there within 10 s\n {2}Next: correct that line, or the site, and check again\n$/,
    );
  });
});
