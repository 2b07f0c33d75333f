import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idRootOf } from "../../../build-service/src/bundle/id-root.ts";
import type { FolderTree } from "../../fixtures/folder.ts";
import { card, documentOf, ITEMS, PUT_ITEMS, PUT_SHOP, putCommandLine, SHOP } from "../../fixtures/put-folders.ts";

describe("what a put command prints", () => {
  test("one line with the version, and what may come next", async () => {
    using here = putCommandLine(ITEMS);
    expect(await here.run(...PUT_ITEMS)).toEqual({
      exitCode: 0,
      out: "items: env v1\n  Next: agent-env env deploy --id items\n",
      err: "items__env_image: v1\nitems: v1\n",
    });
  });

  test("N8 or one document, with the record that env show has", async () => {
    using here = putCommandLine({ ...ITEMS, ...SHOP });
    await here.run(...PUT_ITEMS);
    await here.run(...PUT_SHOP, "shop/Dockerfile.frontend");
    const put = await documentOf(
      here,
      "env",
      "multi",
      "put",
      "--id",
      "team/suite",
      "--mcp-server",
      "items",
      "--website",
      "shop:1",
      "--name",
      "both",
    );
    const record = {
      id: "team/suite",
      version: 1,
      type: "multi",
      metadata: { agent_env_version: "0.1.0" },
      env_provider_type: "gateway",
      name: "both",
      mcp_server_envs: [{ id: "items", version: 1, type: "mcp_server" }],
      website_envs: [{ id: "shop", version: 1, type: "website" }],
    };
    expect(put).toEqual({
      format_version: 1,
      kind: "env",
      record,
      written: [{ kind: "env", id: "team/suite", version: 1, type: "multi" }],
    });
    expect(await documentOf(here, "env", "show", "team/suite")).toEqual({ format_version: 1, record });
  });
});

describe("an env that is put", () => {
  test("B3.2 is named by its card, or as the option says", async () => {
    using here = putCommandLine(ITEMS);
    await here.run(...PUT_ITEMS);
    await here.run(...PUT_ITEMS, "--environment-name", "things", "--env-provider-type", "server", "--platform", "linux/x86_64");
    const [first, second] = await Promise.all(["1", "2"].map((version) => documentOf(here, "env", "show", "items", "--version", version)));
    expect(first?.["record"]).toMatchObject({ environment_name: "items", env_provider_type: "gateway" });
    expect(second?.["record"]).toMatchObject({
      environment_name: "things",
      env_provider_type: "server",
      docker_image_artifact: { id: "items__env_image", version: 2, type: "docker_image" },
    });
  });

  test("says from which commit it is, and nothing of this machine", async () => {
    using here = putCommandLine(ITEMS);
    const git = (...words: string[]) =>
      execFileSync("git", ["-C", join(here.folder, "items"), "-c", "user.name=someone", "-c", "user.email=someone@example.com", ...words]);
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    const commit = git("rev-parse", "HEAD").toString().trim();
    await here.run(...PUT_ITEMS, "--metadata", "team=a=b");
    writeFileSync(join(here.folder, "items/new.txt"), "");
    await here.run(...PUT_ITEMS);
    const metadata = async (version: string) =>
      Object(await documentOf(here, "env", "show", "items", "--version", version)).record.metadata;
    expect(await metadata("1")).toEqual({ agent_env_version: "0.1.0", git_commit: commit, git_dirty: false, team: "a=b" });
    expect(await metadata("2")).toEqual({ agent_env_version: "0.1.0", git_commit: commit, git_dirty: true });
    const { out } = await here.run("env", "show", "items");
    expect(out).not.toContain(here.folder);
    expect(out).not.toContain("someone");
  });
});

describe("a command line that can't be is exit code 2", () => {
  test.each([
    [
      ["--dockerfile", "items/Dockerfile", "--metadata", "team"],
      '--metadata: expected KEY=VALUE, and found "team"\n  there is no "=" in it\n  Next: write --metadata KEY=VALUE\n',
    ],
    [
      ["--dockerfile", "items/Dockerfile", "--metadata", "team=a", "--metadata", "team=b"],
      '--metadata: the key "team" is given twice\n  it can have one value only\n  Next: give it once\n',
    ],
    [
      ["--dockerfile", "items/Dockerfile", "--metadata", "git_dirty=no"],
      '--metadata: "git_dirty" is written by agent-env itself\n  so are agent_env_version, git_commit, git_dirty\n  Next: give it another key\n',
    ],
    [
      ["--dockerfile", "items/Dockerfile", "--platform", "linux/"],
      '--platform: "linux/" names no platform\n  a platform is a system and an architecture, with a variant for 32-bit arm\n  Next: linux/amd64, linux/arm64, linux/386 and linux/arm/v7 are some\n',
    ],
    [
      ["--image-ref", "registry.example.com/team/crm:1"],
      '--image-ref: "registry.example.com/team/crm:1" names an image of a registry, which isn\'t supported yet\n  an image is put with its source, so that it can be built wherever it runs\n  Next: write a Dockerfile with FROM that image, and put it with --dockerfile\n',
    ],
    [[], "--dockerfile: is missing\n  an image is built from a Dockerfile\n  Next: name one: --dockerfile envs/items/Dockerfile\n"],
  ])("env mcp-server put %j", async (options, err) => {
    using here = putCommandLine(ITEMS);
    expect(await here.run("env", "mcp-server", "put", "--id", "items", ...options)).toEqual({ exitCode: 2, out: "", err });
  });

  test("a Dockerfile that isn't there, or not in its context, is exit code 1", async () => {
    using here = putCommandLine({ ...ITEMS, "away/": "" });
    const put = async (...options: string[]) => (await here.run("env", "mcp-server", "put", "--id", "items", ...options)).err;
    expect(await put("--dockerfile", "items")).toBe(
      '--dockerfile: "items" is not a file\n  it is a folder\n  Next: name the Dockerfile itself, as in envs/items/Dockerfile\n',
    );
    expect(await put("--dockerfile", "items/Dockerfile", "--context", "away")).toBe(
      '--dockerfile: "items/Dockerfile" isn\'t in its context, "away"\n  a record holds the Dockerfile as a file of the context\n  Next: name a folder that holds it with --context, or copy it there\n',
    );
  });
});

describe("what is stored comes back", () => {
  test("an artifact as the folder that was put", async () => {
    using here = putCommandLine({ "files/a.txt": "a\n", "files/b/run.sh": { run: "#!/bin/sh\n" } });
    await here.run("artifact", "put", "files", "--id", "@local/here/files");
    expect(await here.run("artifact", "get", "@local/here/files", "--out", "copy")).toEqual({
      exitCode: 0,
      out: `@local/here/files: v1 written to ${join(here.folder, "copy")}\n`,
      err: "",
    });
    expect(readdirSync(join(here.folder, "copy"), { recursive: true }).sort()).toEqual(["a.txt", "artifact.toml", "b", "b/run.sh"]);
    expect(readFileSync(join(here.folder, "copy/artifact.toml"), "utf8")).toBe(
      'type = "file_artifact_universe"\nid = "@local/here/files"\n',
    );
  });

  test("what looks like a secret is masked when a record is shown", async () => {
    using here = putCommandLine({ "helper/Dockerfile": "FROM base\n" });
    const put = ["a2a-agent", "put", "--id", "helper", "--dockerfile", "helper/Dockerfile", "--env-var", "LEVEL=3"];
    const written = await here.run(...put, "--env-var", "API_KEY=hush-1", "--metadata", "token=hush-2", "--json");
    const shown = await here.run("a2a-agent", "get", "--id", "helper");
    const document = await here.run("a2a-agent", "get", "--id", "helper", "--json");
    for (const { out, err } of [written, shown, document]) {
      expect(out).toContain('"LEVEL": "3"');
      expect(out).toContain('"API_KEY": "***"');
      expect(out).toContain('"token": "***"');
      expect(`${out}${err}`).not.toContain("hush");
    }
  });

  test("an agent, in the list of all", async () => {
    using here = putCommandLine({ "helper/Dockerfile": "FROM base\n" });
    const put = ["a2a-agent", "put", "--id", "helper", "--dockerfile", "helper/Dockerfile"];
    await here.run(...put, "--env-var", "LEVEL=3", "--default-model", "small", "--min-disk-size-gb", "2.5", "--metadata", "team=a");
    await here.run(...put);
    expect(Object(await documentOf(here, "a2a-agent", "get", "--id", "helper", "--version", "1")).record).toEqual({
      id: "helper",
      version: 1,
      type: "a2a_agent",
      docker_image_artifact: { id: "helper__agent_image", version: 1, type: "docker_image" },
      default_env_vars: { LEVEL: "3" },
      metadata: { default_model: "small", min_disk_size_gb: 2.5, agent_env_version: "0.1.0", team: "a" },
    });
    expect((await here.run("a2a-agent", "list")).out).toBe("AGENT   LATEST  TYPE\nhelper  v2      a2a_agent\n");
  });

  test.each([
    [
      ["env", "show", "nothing"],
      "nothing: no such env in the store\n  nothing has written it\n  Next: run the bundle that holds it, or put it: agent-env --help\n",
    ],
    [
      ["env", "show", "items", "--version", "3"],
      "items: there is no v3 of this env in the store\n  its latest is v1\n  Next: leave out --version, or name one from 1 to that\n",
    ],
    [
      ["task", "get", "--id", "items"],
      "items: no such task in the store\n  nothing has written it\n  Next: run the bundle that holds it, or put it: agent-env --help\n",
    ],
  ])("%j of what isn't there says so", async (argv, err) => {
    using here = putCommandLine(ITEMS);
    await here.run(...PUT_ITEMS);
    expect(await here.run(...argv)).toEqual({ exitCode: 1, out: "", err });
  });
});

describe("tasks and evals", () => {
  const TASK = JSON.stringify([{ id: "up", type: "deploy_env", env_id: "items" }]);

  test("a task is checked by what is stored; --skip-validation saves it all the same", async () => {
    using here = putCommandLine({ "t.json": TASK });
    const problem = "t.json: step 'up': env_id: there is no env \"items\" in the store";
    expect(await here.run("task", "create", "t.json", "--id", "t")).toEqual({
      exitCode: 1,
      out: "",
      err: `${problem}\n1 problem; nothing was built, written or started\n`,
    });
    expect(await here.run("task", "create", "t.json", "--id", "t", "--skip-validation")).toEqual({
      exitCode: 0,
      out: "t: task v1\n  Next: agent-env task get --id t\n",
      err: `warning: ${problem}\nt: v1\n`,
    });
  });

  test("no option saves what is no task", async () => {
    using here = putCommandLine({ "t.json": '[{"id": "up", "type": "deploy_evn"}]' });
    const { exitCode, err } = await here.run("task", "create", "t.json", "--id", "t", "--skip-validation");
    expect({ exitCode, line: err.split(": known")[0] }).toEqual({
      exitCode: 1,
      line: 't.json: step \'up\': there is no step type "deploy_evn" (probably "deploy_env")',
    });
  });

  test("task validate runs the preflight and writes nothing", async () => {
    using here = putCommandLine({
      ...ITEMS,
      "items/Dockerfile": 'FROM node:24-slim\nRUN make\nCMD ["node", "server.ts"]\n',
      "t.json": TASK,
    });
    await here.run(...PUT_ITEMS);
    expect(await here.run("task", "validate", "t.json")).toEqual({
      exitCode: 1,
      out: "",
      err: "t.json: step 'up': items__env_image: Dockerfile:2: RUN make: commands can't be run without Docker, only npm ci and npm install may be skipped\n1 problem; nothing was built, written or started\n",
    });
    expect((await here.run("task", "get", "--id", "t")).exitCode).toBe(1);
  });

  test("B9 an eval keeps bare references and pins, and add-tasks has one entry a task", async () => {
    using here = putCommandLine({
      ...ITEMS,
      "items/Dockerfile": 'FROM node:24-slim\nCOPY . .\nCMD ["node", "server.ts"]\n',
      "t.json": TASK,
      "first.json": '[{"task_id": "a"}, {"task_id": "b"}]',
      "more.json": '[{"task_id": "b", "task_version": 1}, {"task_id": "c"}]',
    });
    await here.run(...PUT_ITEMS);
    for (const id of ["a", "b", "c"]) expect((await here.run("task", "create", "t.json", "--id", id)).err).toBe(`${id}: v1\n`);
    await here.run("eval", "create", "first.json", "--id", "all");
    const { record } = Object(await documentOf(here, "eval", "add-tasks", "more.json", "--id", "all"));
    expect(record).toEqual({
      id: "all",
      version: 2,
      type: "eval",
      tasks: [
        { task_id: "a", task_version: null },
        { task_id: "b", task_version: 1 },
        { task_id: "c", task_version: null },
      ],
    });
  });
});

describe("inside a bundle", () => {
  const BUNDLE: FolderTree = {
    "demo/envs/items/Dockerfile": "FROM base\nCOPY . .\n",
    "demo/envs/items/server.ts": card("items"),
    "demo/envs/named/env.toml": 'id = "@local/team/named"\n',
    "demo/envs/named/Dockerfile": "FROM base\n",
    "demo/envs/named/server.ts": card("named"),
  };

  test("a name stands for the bundle's id, in a put and in what is asked", async () => {
    using here = putCommandLine(BUNDLE);
    const { idRoot } = idRootOf(join(here.folder, "demo"));
    const put = await here.runIn("demo", "env", "mcp-server", "put", "--id", "items", "--dockerfile", "envs/items/Dockerfile");
    expect(put.out.split("\n")[0]).toBe(`${idRoot}/items: env v1`);
    const named = await here.runIn("demo/envs", "env", "mcp-server", "put", "--id", "named", "--dockerfile", "named/Dockerfile");
    expect(named.out.split("\n")[0]).toBe("@local/team/named: env v1");
    expect((await here.runIn("demo", "env", "history", "items")).out).toMatch(/^VERSION {2}WHEN .*\nv1 .* put\n$/);
    expect((await here.run("env", "show", `${idRoot}/items`)).exitCode).toBe(0);
  });
});
