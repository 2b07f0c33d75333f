import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as protocol from "@agent-env/protocol";
import { type GatewayError, PROBLEM_CODES, problemLine } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { checkBundle } from "../../build-service/src/bundle/check.ts";
import { parseActs } from "../../build-service/src/check-site/act-script.ts";
import { machinePlatform } from "../../build-service/src/images/platform.ts";
import type { Trouble } from "../../gateway-worker/src/core/mcp/link.ts";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";
import { type FolderTree, temporaryFolder } from "../fixtures/folder.ts";
import { CHECKED, PLUGIN, RUN, STORE } from "./refusals/cases.ts";

const text = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
const PAGE = text("docs/errors.md");

/** The cells of the tables of a section, without their headings. */
function rowsOf(heading: string): string[][] {
  const section = PAGE.split(/^(?=##+ )/m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/errors.md has no section ${heading}`);
  const [, , ...rows] = section.split("\n").filter((line) => line.startsWith("| "));
  return rows.map((row) => row.slice(2, -2).split(" | "));
}

const STAGES: Readonly<Record<protocol.Stage, string>> = {
  parse: "### Reading the folder: `parse`",
  resolve: "### Looking up what is named: `resolve`",
  check: "### Checking what is written: `check`",
  store: "### Comparing with the store: `store`",
  run: "### Before a run starts: `run`",
  site: "### Walking a website: `site`",
};

/** Texts that tests compare, but for those of the table of refusals. */
async function furtherLines(): Promise<string[]> {
  using folder = temporaryFolder({ file: "", "a#b/envs/": "" });
  const checked = await Promise.all(["file", "a#b"].map((path) => checkBundle(join(folder.path, path))));
  const lines = [...checked.flatMap(({ problems }) => problems), ...parseActs("goto /\nhover x\n", "acts/a.txt").problems].map(
    (problem) => `${problem.code} ${problemLine(problem)}`,
  );
  return lines.map((line) => line.replaceAll(folder.path, "<bundle>"));
}

test.each(Object.entries(PROBLEM_CODES))(
  "docs/errors.md has a row for each code of %s, with an example that is really said",
  async (stage, codes) => {
    const rows = rowsOf(STAGES[stage as protocol.Stage]);
    expect(rows.map(([code]) => code)).toEqual(codes.map((code) => `\`${code}\``));
    const cases = [...CHECKED.flatMap((group) => group.cases), ...PLUGIN, ...STORE, ...RUN].flatMap(({ lines }) => lines);
    const said = new Set([...cases.map((line) => line.replaceAll(machinePlatform(), "linux/amd64")), ...(await furtherLines())]);
    const pinned = ["build-service/src/run/preflight.test.ts", "test/integration/refusals/place.test.ts"].map(text).join();
    const wrong = rows.filter(([code = "", what, , example = ""]) => {
      const shown = example.replace(/^(`+) ?(.*?) ?\1$/, "$2");
      if (what === "not given yet") return [...said].some((line) => line.startsWith(`${code.slice(1, -1)} `));
      return !said.has(`${code.slice(1, -1)} ${shown}`) && !pinned.includes(shown);
    });
    expect(wrong).toEqual([]);
  },
);

/** Each answer of the gateway's own, as the page shows it. */
const ANSWERS: Readonly<Record<string, readonly GatewayError[]>> = {
  foreignHost: [protocol.foreignHost()],
  foreignOrigin: [protocol.foreignOrigin()],
  browserWithoutToken: [protocol.browserWithoutToken()],
  notFound: [protocol.notFound()],
  unknownDeployment: [protocol.unknownDeployment("x")],
  unknownService: [protocol.unknownService("x")],
  wrongMethod: [protocol.wrongMethod("GET")],
  unroutable: [protocol.unroutable("/svc%2fx")],
  unsafePath: [protocol.unsafePath()],
  badTarget: [protocol.badTarget()],
  uriTooLong: [protocol.uriTooLong(8192)],
  headersTooLarge: [protocol.headersTooLarge(65536)],
  roleTooLong: [protocol.roleTooLong(256)],
  tooManyHops: [protocol.tooManyHops(8)],
  needsToken: [protocol.needsToken()],
  needsPageLink: [protocol.needsPageLink()],
  badToken: [protocol.badToken("expired"), protocol.badToken("not valid")],
  usedPageLink: [protocol.usedPageLink()],
  missingScope: [protocol.missingScope("control")],
  otherRole: [protocol.otherRole()],
  openElsewhere: [protocol.openElsewhere()],
  notReady: [protocol.notReady("starting"), protocol.notReady("MCP server(s) not ready after 180s: crm (connection refused)")],
  siteStarting: [protocol.siteStarting("shop")],
  proxyFailed: [protocol.proxyFailed("shop: connection refused")],
  upgradeWithBody: [protocol.upgradeWithBody()],
  bodyTooSlow: [protocol.bodyTooSlow(30_000)],
  brokenBody: [protocol.brokenBody()],
  headTooSlow: [protocol.headTooSlow(60_000)],
  notHttp: [protocol.notHttp()],
  bodyNotSent: [protocol.bodyNotSent("GET")],
  severalHosts: [protocol.severalHosts()],
  messageTooLarge: [protocol.messageTooLarge(16_777_216)],
  unknownCoding: [protocol.unknownCoding("zstd")],
  upgradeAtMcp: [protocol.upgradeAtMcp()],
  noDeployment: [protocol.noDeployment()],
  endedDeployment: [protocol.endedDeployment("x", "was stopped")],
  brokenRecord: [protocol.brokenRecord("x", "servers[0].url")],
  recordsAway: [protocol.recordsAway("x")],
  deploymentBroke: [protocol.deploymentBroke("x")],
};

test("docs/errors.md has a row for each answer of the gateway's own, as it is said, by status", () => {
  const defined = [...text("shared/src/gateway-errors.ts").matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  expect(Object.keys(ANSWERS).sort()).toEqual(defined.sort());
  const answers = Object.values(ANSWERS).flat();
  const rows = rowsOf("## Answers of the gateway").map(([status, said]) => `${status} ${said}`);
  expect([...rows].sort()).toEqual(answers.map(({ status, body }) => `${status} \`${body.error}\``).sort());
  expect(rows.map((row) => row.slice(0, 3))).toEqual(rows.map((row) => row.slice(0, 3)).sort());
});

test("docs/errors.md has a row for each reason why a call has no answer, and for each code of JSON-RPC", () => {
  const reasons = { server_down: 1, busy: 1, refused: 1, bad_answer: 1, timeout: 1, outcome_unknown: 1 } satisfies Record<
    Trouble["reason"],
    1
  >;
  expect(rowsOf("### Calls of tools").map(([reason]) => reason)).toEqual(Object.keys(reasons).map((reason) => `\`${reason}\``));
  const codes = Object.entries(protocol).flatMap(([name, value]) =>
    typeof value === "number" && value < 0 ? [`${value} \`${name}\``] : [],
  );
  expect(codes.length).toBeGreaterThan(5);
  expect(
    rowsOf("### JSON-RPC")
      .map(([code, name]) => `${code} ${name}`)
      .sort(),
  ).toEqual(codes.sort());
});

test("docs/errors.md shows what a refused command prints, and the exit codes that commands have", async () => {
  using folder = temporaryFolder(GARDEN);
  const cli = agentEnv(NO_DOCKER, folder.path);
  const refused = await cli.run("bundle", "check", "garden");
  const [shown = ""] = /(?<=^```\n\$ npx agent-env bundle check garden\n)[\s\S]*?(?=^```$)/m.exec(PAGE) ?? [];
  expect(refused).toMatchObject({ exitCode: 1, out: "", err: shown });
  const problems = JSON.parse((await cli.run("bundle", "check", "garden", "--json")).out).problems as object[];
  expect(problems.map((problem) => Object.keys(problem))).toEqual([1, 2, 3].map(() => ["code", "path", "message"]));
  const failed = await cli.run("env", "show", "nobody", "--json");
  expect(Object.keys(JSON.parse(failed.out))).toEqual(["format_version", "error", "exit_code"]);
  const codes = [refused, await cli.run("--version"), await cli.run("nothing"), failed].map(({ exitCode }) => exitCode);
  cli.remove();
  expect(codes).toEqual([1, 0, 2, 1]);
  expect(rowsOf("## Exit codes").map(([code]) => code)).toEqual(["0", "1", "2", "129, 130, 143"]);
});

const GARDEN: FolderTree = {
  "garden/envs/crm/Dockerfile": "FROM node:24-slim\nCOPY . .\n",
  "garden/envs/crm/env.toml": "port = 80\n",
  "garden/tasks/first.json": '[{ "id": "deploy", "type": "deploy_env", "env_id": "crm", "ttl_seconds": "2h" }]',
};
