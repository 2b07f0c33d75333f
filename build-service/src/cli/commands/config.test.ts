import { describe, expect, test } from "vitest";
import { commandLine } from "../../../../test/fixtures/command-line.ts";

describe("the configuration on the command line", () => {
  test("a file that can't be read ends every command with exit code 2, before it does anything", async () => {
    using cli = commandLine({ ".agentenv/config.toml": "[run]\nconcurency = 2\n" });
    for (const words of [
      ["env", "list"],
      ["run", "hello", "--dry-run"],
      ["bundle", "check", "."],
      ["config", "show"],
    ]) {
      expect(await cli.run(...words)).toEqual({
        exitCode: 2,
        out: "",
        err: `${cli.folder}/.agentenv/config.toml: [run]: unknown key "concurency" (probably "concurrency"): known are concurrency\n  the configuration is read before anything is done\n  Next: correct the file: \`agent-env config explain\` lists the keys\n`,
      });
    }
    expect(cli.names()).toEqual([".agentenv"]);
  });

  test("--config names another file, and what the original alone knows is said once", async () => {
    using cli = commandLine({ ".agentenv/config.toml": "[run\n", "other.toml": '[stores]\ndocument = "mongo"\n' });
    expect(await cli.run("env", "list", "--config", "other.toml")).toEqual({
      exitCode: 0,
      out: "no deployment is up\n",
      err: `warning: ${cli.folder}/other.toml: says nothing here, and is ignored: [stores] document\n`,
    });
  });

  test("an option wins over the file, and a refusal names what set the value", async () => {
    using cli = commandLine({ ".agentenv/config.toml": '[sandbox]\ndefault = "dokcer"\n' });
    const refused = await cli.run("run", "hello", "--dry-run");
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.err).toContain('[sandbox] default: "dokcer" is not known\n');
    expect((await cli.run("run", "hello", "--dry-run", "--sandbox", "procces")).err).toContain('--sandbox: "procces" is not known\n');
    expect(await cli.run("run", "hello", "--dry-run", "--sandbox", "process")).toMatchObject({ exitCode: 0 });
  });

  test("[gateway] mode and [sandbox] default choose where a run goes", async () => {
    using cli = commandLine({ ".agentenv/config.toml": '[sandbox]\ndefault = "process"\n' });
    const { out } = await cli.run("run", "hello", "--dry-run", "--json");
    expect(out).toContain('"message":"sandbox process: [sandbox] default"');
  });

  test("show, explain and sources print one document each with --json", async () => {
    using cli = commandLine({ ".agentenv/config.toml": '[model]\napi_key = "hush"\n' });
    const shown = JSON.parse((await cli.run("config", "show", "--json")).out);
    expect({ ...shown, keys: shown.keys.filter(({ from }: { from: string }) => from === "file") }).toEqual({
      format_version: 1,
      file: `${cli.folder}/.agentenv/config.toml`,
      keys: [{ key: "[model] api_key", value: "***", from: "file" }],
    });
    expect(JSON.parse((await cli.run("config", "explain", "run.concurrency", "--json")).out)).toEqual({
      format_version: 1,
      key: "[run] concurrency",
      about: "task runs at once",
      value: 4,
      from: "default",
      default: 4,
      variable: null,
      read_by: "run",
    });
    expect(JSON.parse((await cli.run("config", "sources", "--json")).out)).toMatchObject({
      environment: [],
      file: { path: `${cli.folder}/.agentenv/config.toml`, keys: ["[model] api_key"] },
    });
  });

  test("explain says that nothing reads a key yet", async () => {
    using cli = commandLine({});
    expect((await cli.run("config", "explain", "explorer.port")).out).toBe(
      `[explorer] port: the live page's port
value     8234
from      the default
default   8234
variable  none
read by   nothing yet: the value is checked and has no effect
`,
    );
  });

  test("debug shows a file that can't be read, and values that can't be had", async () => {
    using broken = commandLine({ ".agentenv/config.toml": "[run]\nx = 1\n" });
    const { exitCode, out } = await broken.run("config", "debug", "--json");
    expect({ exitCode, ...JSON.parse(out) }).toMatchObject({
      exitCode: 2,
      file: { path: `${broken.folder}/.agentenv/config.toml`, by: "the working folder" },
      problems: [expect.stringContaining('[run]: unknown key "x"')],
    });
    using lacking = commandLine({ ".agentenv/config.toml": '[model]\ndefault = "env:NOPE"\n' });
    expect((await lacking.run("config", "debug")).out).toContain(
      `problem           ${lacking.folder}/.agentenv/config.toml: [model] default: "env:NOPE" has no value: the environment variable NOPE isn't set\n`,
    );
  });
});
