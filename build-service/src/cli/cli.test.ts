import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CommandLine, commandLine } from "../../../test/fixtures/command-line.ts";
import { writeTree } from "../../../test/fixtures/folder.ts";

let cli: CommandLine;
beforeEach(() => {
  cli = commandLine({});
});
afterEach(() => cli[Symbol.dispose]());

const COMMANDS = [
  ["run"],
  ["bundle", "check"],
  ["bundle", "plan"],
  ["env", "list"],
  ["env", "get-instance", "--id", "x"],
  ["env", "stop", "x"],
  ["env", "deploy", "--id", "x"],
  ["env", "mcp-server", "put", "--id", "x"],
  ["env", "website", "put", "--id", "x", "--backend-dockerfile", "x", "--frontend-dockerfile", "x"],
  ["env", "multi", "put", "--id", "x"],
  ["env", "gateway", "put"],
  ["env", "show", "x"],
  ["env", "history", "x"],
  ["env", "export", "x"],
  ["artifact", "put", "x", "--id", "x"],
  ["artifact", "get", "x"],
  ["image", "put", "--id", "x"],
  ["a2a-agent", "put", "--id", "x"],
  ["a2a-agent", "get", "--id", "x"],
  ["a2a-agent", "list"],
  ["task", "create", "x", "--id", "x"],
  ["task", "validate", "x"],
  ["task", "get", "--id", "x"],
  ["eval", "create", "x", "--id", "x"],
  ["eval", "add-tasks", "x", "--id", "x"],
  ["gateway", "dev"],
  ["plugin", "list"],
  ["plugin", "show", "x"],
  ["plugin", "check"],
  ["config", "show"],
  ["config", "explain"],
  ["config", "sources"],
  ["config", "debug"],
  ["check-site", "x"],
  ["conformance", "x"],
  ["doctor"],
  ["gc"],
];

describe("every command", () => {
  test.each(COMMANDS.map((words) => [words.join(" "), words]))(
    "%s: an unknown option is one clear sentence, exit code 2",
    async (_, words) => {
      const { exitCode, err, out } = await cli.run(...words, "--colour");
      expect(err).toMatch(/^error: unknown option '--colour'\n/);
      expect(err).toContain("--help");
      expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
      expect(cli.names()).toEqual([]);
    },
  );

  test.each(COMMANDS.map((words) => [words.join(" "), words]))("%s: N8 takes --json and says what it is for", async (_, words) => {
    const { exitCode, out } = await cli.run(...words, "--help");
    expect(exitCode).toBe(0);
    expect(out).toContain("--json");
  });
});

describe("bad input", () => {
  test("an unknown command names the way to the known ones", async () => {
    const { exitCode, err } = await cli.run("runn");
    expect(exitCode).toBe(2);
    expect(err).toContain("unknown command 'runn'");
  });

  test.each(["constructor", "__proto__", "toString"])("the command %s is unknown, as what every object has is no command", async (name) => {
    expect(await cli.run(name)).toMatchObject({ exitCode: 2, err: expect.stringContaining(`unknown command '${name}'`) });
  });

  test("an id too long for any store is refused as one, not looked for on the disk", async () => {
    writeTree(cli.folder, { Dockerfile: "FROM scratch\n" });
    const id = "x".repeat(5000);
    const { exitCode, err } = await cli.run("image", "put", "--id", id, "--dockerfile", "Dockerfile");
    expect(err).toContain("it has 5000 bytes, and 4071 is the most");
    expect(exitCode).toBe(1);
  });

  test("a missing bundle says what it could have been", async () => {
    const { exitCode, err } = await cli.run("run", "helo");
    expect(err).toBe(
      `helo: no such bundle\n  it is no folder in ${cli.folder}, and the installed bundles are: hello\n  Next: give a bundle's folder, or one of these names\n`,
    );
    expect(exitCode).toBe(1);
  });

  test("a missing folder is refused, and the state folder isn't made", async () => {
    const { exitCode, err } = await cli.run("run", "./nowhere");
    expect(exitCode).toBe(1);
    expect(err).toContain("nowhere");
    expect(cli.names()).toEqual([]);
  });

  test("a state folder that can't be written is exit code 2, with the way out", async () => {
    writeTree(cli.folder, { state: "" });
    const { exitCode, err } = await cli.run("env", "stop", "items-aaaaaaaa");
    expect(exitCode).toBe(2);
    expect(err).toContain("Next: set AGENT_ENV_STATE_DIR to a folder that you can write");
  });

  test.each(["nope", "@local/x"])("env stop %s: what never was can't be stopped", async (id) => {
    expect(await cli.run("env", "stop", id)).toEqual({
      exitCode: 1,
      out: "",
      err: `${id}: no such deployment\n  no deployment has this id or instance id\n  Next: agent-env env list --all\n`,
    });
  });

  test("--lock without --pull is refused, and so is a platform that is none", async () => {
    expect(await cli.run("run", "hello", "--lock")).toMatchObject({
      exitCode: 2,
      err: "--lock: --pull is missing\n  it fixes what --pull fetches\n  Next: give both: --pull --lock\n",
    });
    expect(await cli.run("bundle", "plan", "hello", "--platform", "a/b/c/d")).toMatchObject({
      exitCode: 2,
      err: expect.stringMatching(/^--platform: "a\/b\/c\/d" names no platform\n/),
    });
  });

  test.each(["0", "1209601", "many"])("--ttl-seconds %s is refused with its range", async (ttl) => {
    const { exitCode, err } = await cli.run("env", "deploy", "--id", "x", "--ttl-seconds", ttl);
    expect(exitCode).toBe(2);
    expect(err).toContain("It takes a number from 60 to 1209600.");
  });

  test.each([
    ["env", "deploy", "--id", "x", "--ttl-seconds", "60.5"],
    ["env", "deploy", "--id", "x", "--version", "1.5"],
    ["run", "x", "--concurrency", "1.5"],
    ["gateway", "dev", "--port", "8787.5"],
  ])("%s … %s of what is counted takes no fraction", async (...words) => {
    const { exitCode, err } = await cli.run(...words);
    expect(exitCode).toBe(2);
    expect(err).toContain("It takes a whole number from ");
  });

  test("--json says the same as one document", async () => {
    const { exitCode, out, err } = await cli.run("env", "get-instance", "--id", "x", "--json");
    expect(JSON.parse(out)).toMatchObject({ format_version: 1, error: { what: "x: no such deployment" }, exit_code: 1 });
    expect({ exitCode, err }).toEqual({ exitCode: 1, err: "" });
  });

  test("--json of a command line that can't be read is a document too, exit code 2", async () => {
    const { exitCode, out } = await cli.run("env", "stop", "--json");
    expect(JSON.parse(out)).toMatchObject({ format_version: 1, error: { what: "error: missing required argument 'id'" }, exit_code: 2 });
    expect(exitCode).toBe(2);
  });

  test.each([
    ["a bundle that isn't there", ["run", "helo"], 1],
    ["a sandbox that isn't known", ["run", "hello", "--sandbox", "docker"], 2],
    ["a dry run of a bundle that isn't there", ["run", "helo", "--dry-run"], 1],
  ])("run --json ends with a result line, also for %s", async (_, words, code) => {
    const { exitCode, out, err } = await cli.run(...words, "--json");
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ kind: "result", format_version: 1, exit_code: code, error: { next: expect.any(String) } });
    expect({ exitCode, err }).toEqual({ exitCode: code, err: "" });
  });

  test("a refused run --json names each problem on a line, and then the result", async () => {
    writeTree(cli.folder, { "bundle/tasks/a.json": "{}" });
    const { exitCode, out } = await cli.run("run", "./bundle", "--json");
    const kinds = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).kind);
    expect({ exitCode, kinds }).toEqual({ exitCode: 1, kinds: ["problem", "result"] });
  });

  test("--version belongs to the command that takes it", async () => {
    const { exitCode, out, err } = await cli.run("env", "deploy", "--id", "x", "--version", "0");
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(err).toContain("It takes a number from 1 to");
  });

  test("a wrong option names the help of its own command", async () => {
    expect((await cli.run("bundle", "check", "x", "--colour")).err).toContain("(agent-env bundle check --help lists its options)");
  });
});

test("env list of an empty store says so and makes no state folder", async () => {
  expect(await cli.run("env", "list")).toEqual({ exitCode: 0, out: "no deployment is up\n", err: "" });
  expect(cli.names()).toEqual([]);
});

test("run without a bundle lists the installed ones", async () => {
  expect(await cli.run("run", "--json")).toEqual({ exitCode: 0, out: '{"format_version":1,"bundles":["hello"]}\n', err: "" });
});
