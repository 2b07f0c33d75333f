import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, NO_DOCKER } from "../../fixtures/agent-env.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";

describe("B7 from nothing to a passed task, with nothing edited and without Docker", () => {
  const place = temporaryFolder();
  let cli: AgentEnv;
  beforeAll(() => {
    cli = agentEnv(NO_DOCKER, place.path);
  });
  afterAll(() => {
    cli.remove();
    place[Symbol.dispose]();
  });

  test.each(["mcp-server", "multi"])("init %s, bundle check, run", async (kind) => {
    const name = `my-${kind}`;
    const made = await cli.run("init", kind, name);
    expect(made).toMatchObject({ exitCode: 0, err: "" });
    expect(made.out).toContain(`Next:\n  agent-env bundle check ${name}\n  agent-env run ${name}\n`);
    expect(await cli.run("bundle", "check", name)).toMatchObject({ exitCode: 0, err: "" });
    const run = await cli.run("run", name, "--min-score", "1");
    expect(run).toMatchObject({ exitCode: 0, err: "" });
    expect(run.out).toMatch(/\n1 of 1 tasks passed in /);
  });

  test("--json is one document", async () => {
    const { exitCode, out, err } = await cli.run("init", "skill", "pdf", "--json");
    expect({ exitCode, err, document: JSON.parse(out) }).toEqual({
      exitCode: 0,
      err: "",
      document: {
        format_version: 1,
        kind: "skill",
        name: "pdf",
        bundle: join(place.path, "pdf"),
        created: ["README.md", "skills/pdf/SKILL.md"],
        next: ["agent-env bundle check pdf"],
      },
    });
  });

  test("a name that can't be and a kind that isn't are exit code 2, and neither writes", async () => {
    const refused = await cli.run("init", "website", "gateway");
    expect(refused.exitCode).toBe(2);
    expect(refused.err).toMatch(
      /^init website "gateway": can't be a name\n {2}"gateway" is a name that the provider "gateway" gives its own containers .*\n {2}Next: choose another: agent-env init website <name>\n$/,
    );
    expect(existsSync(join(place.path, "gateway"))).toBe(false);
    expect(await cli.run("init", "site", "x")).toEqual({
      exitCode: 2,
      signal: null,
      out: "",
      err: 'init "site": there is no such kind\n  it makes bundle, mcp-server, website, multi, agent, artifact, task, eval, skill\n  Next: agent-env init --help says what each is\n',
    });
  });

  test("a bundle of everything passes with all of its tasks", async () => {
    const inside = (bundle: string) => agentEnv({ ...NO_DOCKER, AGENT_ENV_STATE_DIR: cli.stateDir }, join(place.path, bundle));
    await cli.run("init", "website", "all");
    const all = inside("all");
    for (const kind of ["mcp-server", "multi", "agent", "artifact", "skill", "task"]) {
      expect(await all.run("init", kind, `one-${kind}`)).toMatchObject({ exitCode: 0, err: "" });
    }
    const run = await all.run("run", ".", "--min-score", "1");
    all.remove();
    expect(run).toMatchObject({ exitCode: 0, err: "" });
    expect(run.out).toMatch(/\n4 of 4 tasks passed in /);
    expect(readFileSync(join(place.path, "all/envs/one-multi/env.toml"), "utf8")).toContain('website_envs = ["all"]');
  });
});
