import { readFileSync } from "node:fs";
import { ConformanceReport } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CARD_ANSWER_CHECKS } from "../../build-service/src/conformance/card-answer-checks.ts";
import { CHECKS } from "../../build-service/src/conformance/checks.ts";
import { type AgentEnv, agentEnv } from "../fixtures/agent-env.ts";
import { docPage } from "../fixtures/doc-page.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { freePort } from "../fixtures/free-port.ts";
import { recorder } from "../fixtures/gateway/recorder.ts";
import { SEED } from "../fixtures/mutants/kiosk.ts";
import { at, card, dataPlane, servedKiosk } from "../fixtures/mutants/mutation.ts";

let cli: AgentEnv;
beforeAll(() => {
  cli = agentEnv();
});
afterAll(() => cli.remove());

/** A kiosk that lists its tools and breaks one recommended check. */
const otherOrder = card((whole) => ({
  ...whole,
  capabilities: { ...whole.capabilities, operations: ["data/get", "data/add", "data/reset"] },
}));
const noCard = at("GET /.well-known/agent-env.json", () => new Response("Not\u001b[2J Found", { status: 404 }));

describe("W5 agent-env conformance", () => {
  test("prints each check, and ends with 0 where all that is required holds", async () => {
    const url = await servedKiosk({ answer: otherOrder });
    const { exitCode, out, err } = await cli.run("conformance", url);
    expect({ exitCode, err }, out).toEqual({ exitCode: 0, err: "" });
    expect(out).toContain(
      [
        `${url}: server "kiosk"`,
        "what data it holds is reset, and loaded again from what data/get gives; --read-only leaves it alone",
        "card",
        "  passed   required     card-served             a GET on the card path is answered with the card",
      ].join("\n"),
    );
    expect(out).toContain(
      [
        "  failed   recommended  card-operations-order   `operations` lists reset, add and get in this order",
        "      sent      GET /.well-known/agent-env.json",
        '      expected  operations ["data/reset","data/add","data/get"]',
        '      got       operations ["data/get","data/add","data/reset"]',
        "      fix       list them in this order, as every other card does",
      ].join("\n"),
    );
    expect(out).toMatch(/^\d+ passed, 1 failed, \d+ skipped: it conforms; what failed is recommended\n$/m);
  });

  test("ends with 1 where a required check failed, and shows nothing of a server's that moves a terminal", async () => {
    const { exitCode, out } = await cli.run("conformance", await servedKiosk({ answer: noCard }));
    expect(exitCode).toBe(1);
    expect(out).toContain("      got       HTTP 404 text/plain Not\\u001b[2J Found\n");
    expect(out).toMatch(/: it doesn't conform, 1 of the failed is required\n$/);
  });

  test("--json prints one document, which is the report", async () => {
    const url = await servedKiosk({ answer: otherOrder });
    const { exitCode, out } = await cli.run("conformance", url, "--json", "--level", "required");
    const report = ConformanceReport.parse(JSON.parse(out));
    expect({ exitCode, url: report.url, conforms: report.conforms, failed: report.failed }).toEqual({
      exitCode: 0,
      url,
      conforms: true,
      failed: 0,
    });
    expect(new Set(report.subjects.flatMap(({ checks }) => checks.map(({ level }) => level)))).toEqual(new Set(["required"]));
  });

  test("--junit prints a case for each check, whose failures are the required ones", async () => {
    const url = await servedKiosk({ answer: card((whole) => ({ ...whole, additionalInterfaces: [{ url: "<mcp>", transport: "mcp" }] })) });
    const { exitCode, out } = await cli.run("conformance", url, "--junit");
    expect(exitCode).toBe(1);
    expect(out.match(/<failure /g)).toHaveLength(1);
    expect(out).toContain(`<testsuites name="agent-env conformance ${url}">\n  <testsuite name="${url}" tests="`);
    expect(out).toContain(
      '<testcase classname="mcp" name="mcp: the declared endpoint serves MCP, and exactly the tools on the card" time="',
    );
    expect(out).toContain("sent: POST /%3Cmcp%3E {&quot;jsonrpc&quot;");
    expect(out.trimEnd()).toMatch(/<\/testsuites>$/);
  });

  test("--read-only changes nothing, and says what it left out", async () => {
    const methods: unknown[] = [];
    const url = await servedKiosk({
      answer: dataPlane((body) => {
        methods.push(/"method":"(data\/(?:reset|add))"/.exec(body)?.[1]);
        return null;
      }),
    });
    const { exitCode, out } = await cli.run("conformance", url, "--read-only");
    expect(exitCode, out).toBe(0);
    expect(out).toContain("  skipped  required     data-reset              changes data or rules, which --read-only leaves as they are\n");
    expect(out).not.toContain("data it holds is reset");
    // The one add that is asked for has no parts: it tells whether the method is there.
    expect(methods.filter((method) => method !== undefined)).toEqual(["data/add"]);
  });

  test("the data that was there is there again afterwards", async () => {
    const items = ["lamp", "chair"];
    const url = await servedKiosk({
      data: (handlers, held) => {
        held.push(...items);
        return handlers;
      },
    });
    using folder = temporaryFolder({ "seed.json": JSON.stringify(SEED) });
    const { exitCode, out } = await cli.run("conformance", url, "--seed", `${folder.path}/seed.json`);
    expect(exitCode, out).toBe(0);
    expect(out).toContain("  passed   required     data-reset ");
    const answer = await fetch(`${url}/agentenv`, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "data/get" }) });
    expect(await answer.json()).toMatchObject({ result: { parts: [{ kind: "data", data: { items } }] } });
  });

  test("data that can't be loaded again is told of", async () => {
    const url = await servedKiosk({
      data: (handlers, held) => {
        held.push("lamp");
        return { ...handlers, add: () => Promise.reject(new Error("the disk is full")) };
      },
    });
    const { out } = await cli.run("conformance", url);
    expect(out).toContain(
      "note: the data that it held before isn't there again: it was reset, and what data/get had given could not be loaded\n",
    );
  });
});

test("W5 nothing is sent to an interface, or a data plane, on another server", async () => {
  const other = await recorder();
  const answer = card((whole) => ({
    ...whole,
    url: `${other.url}/agentenv`,
    additionalInterfaces: [{ url: `${other.url}/mcp`, transport: "mcp" }],
  }));
  const { exitCode, out } = await cli.run("conformance", await servedKiosk({ answer }));
  await other.close();
  expect(exitCode).toBe(1);
  expect(out).toContain(
    [
      "  failed   required     mcp                     the declared endpoint serves MCP, and exactly the tools on the card",
      "      sent      nothing: it is another server's address",
    ].join("\n"),
  );
  expect(other.received).toEqual([]);
});

describe("W5 what can't be checked is told, with exit code 2", () => {
  const refused = async (...args: string[]) => {
    const { exitCode, out, err } = await cli.run("conformance", ...args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    return err;
  };

  test.each([
    ["shop", "shop"],
    ["ftp://localhost/", "ftp://localhost/"],
    ["http://localhost:8000/?x=1", "http://localhost:8000/?x=1"],
    ["http://me:secret@localhost:8000", "http://…@localhost:8000"],
  ])("%s is no address", async (address, shown) => {
    expect(await refused(address)).toBe(
      `${JSON.stringify(shown)}: no address to check\n  it takes an http or https URL without user, query and fragment\n  Next: agent-env conformance http://localhost:8000\n`,
    );
  });

  test("nothing that listens", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await refused(url)).toBe(
      `${url}/.well-known/agent-env.json: connection refused\n  no environment can be checked that doesn't answer\n  Next: start it, and give the address that its card is served below\n`,
    );
  });

  test("a site's page, as a gateway shows it: the server behind it is named", async () => {
    const url = await servedKiosk();
    expect(await refused(`${url}/website/shop/`)).toBe(
      `${url}/website/shop: a page of a site, as a gateway shows it to browsers\n  no card is below it: /.well-known/agent-env.json was answered with HTTP 404\n  Next: agent-env conformance ${url}/svc/shop\n`,
    );
  });

  test("two forms at once, and a seed that isn't there", async () => {
    expect(await refused("http://127.0.0.1:9", "--junit", "--seed", "/nonexistent/seed.json")).toBe(
      `--seed "/nonexistent/seed.json": can't be read\n  ENOENT: no such file or directory, open '/nonexistent/seed.json'\n  Next: name a file with data that the environment takes\n`,
    );
    const { exitCode, out } = await cli.run("conformance", "http://127.0.0.1:9", "--json", "--junit");
    expect({ exitCode, ...JSON.parse(out) }).toMatchObject({ exitCode: 2, error: { what: "--json and --junit: only one of them" } });
  });
});

test("W5 what it waits for is said meanwhile, and an interruption of it ends what was begun", async () => {
  const url = await servedKiosk({ answer: at("POST /agentenv", () => new Promise<Response>(() => {})) });
  const checking = cli.start("conformance", url);
  await checking.seen("waiting for data-");
  checking.child.kill("SIGTERM");
  const { exitCode, out, err } = await checking.ended;
  expect({ exitCode, lastLines: err.split("\n").slice(-3) }).toEqual({
    exitCode: 143,
    lastLines: ["SIGTERM: ending what was begun (again to stop at once)", "interrupted by SIGTERM", ""],
  });
  expect(out.trimEnd().split("\n").at(-1)).toBe("data plane");
});

test("W5 docs/conformance.md lists every check", () => {
  const rows = [...CARD_ANSWER_CHECKS, ...CHECKS].map(({ id, level, title }) => `| \`${id}\` | ${level} | ${title} |`);
  const page = readFileSync(new URL("../../docs/conformance.md", import.meta.url), "utf8");
  expect(page.split("\n").filter((line) => /^\| `[a-z-]+` \| re/.test(line))).toEqual(rows);
});

test("W5 docs/conformance.md: its commands end well", async () => {
  const url = await servedKiosk();
  const { files, commands } = docPage("conformance.md");
  using folder = temporaryFolder(files);
  const here = agentEnv({}, folder.path);
  const codes: unknown[] = [];
  for (const command of commands) {
    const { exitCode, out, err } = await here.run(...command.map((word) => word.replace("http://localhost:8000", url)));
    codes.push(exitCode === 0 ? 0 : { command, out, err });
  }
  here.remove();
  expect(codes).toEqual([0, 0, 0, 0]);
});
