import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { changes, lines, make } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { encodedId } from "../bundle/ids.ts";

const agent = (toml: string): FolderTree => ({ "agents/bot/Dockerfile": "FROM scratch\n", "agents/bot/agent.toml": toml });

describe("an agent's toml", () => {
  const cases: [string, FolderTree, string[]][] = [
    ["may be left out", { "agents/bot/Dockerfile": "FROM scratch\n" }, []],
    [
      "may say all that there is to say",
      agent('[default_env_vars]\nMODE = "x"\n[metadata]\ndefault_model = "m"\nmin_disk_size_gb = 20\ntakes_credentials = false\n'),
      [],
    ],
    [
      "has closed keys",
      agent('environment_name = "x"\n'),
      ['unknown-key agents/bot: agent.toml: unknown key "environment_name": a2a_agent takes image, default_env_vars, metadata, type, id'],
    ],
    [
      "takes values of their kinds only",
      agent('default_env_vars = "A=1"\nmetadata = []\n'),
      [
        'wrong-value agents/bot: agent.toml: default_env_vars: expected a table, and found "A=1"',
        "wrong-value agents/bot: agent.toml: metadata: expected a table, and found []",
      ],
    ],
    [
      "takes variables that are strings, and metadata of a closed list",
      agent(
        '[default_env_vars]\nPORT = 8000\n[metadata]\ndefault_model = 1\nmin_disk_size_gb = true\ntakes_credentials = "no"\nowner = "me"\n',
      ),
      [
        "agent-value agents/bot: agent.toml: default_env_vars.PORT: expected a string, and found 8000",
        "agent-value agents/bot: agent.toml: metadata.default_model: expected a string, and found 1",
        "agent-value agents/bot: agent.toml: metadata.min_disk_size_gb: expected a number, and found true",
        'agent-value agents/bot: agent.toml: metadata.takes_credentials: expected true or false, and found "no"',
        'agent-value agents/bot: agent.toml: metadata: unknown key "owner": it takes default_model, min_disk_size_gb, takes_credentials',
      ],
    ],
    [
      "can't ask for a disk of no size",
      agent("metadata = { min_disk_size_gb = nan }\n"),
      ['agent-value agents/bot: agent.toml: metadata.min_disk_size_gb: expected a number, and found "NaN"'],
    ],
    ["has one type", agent('type = "robot"\n'), ['unknown-type agents/bot: there is no agent type "robot": known are a2a_agent']],
    ["needs something to build", { "agents/bot/notes.md": "" }, ["nothing-to-build agents/bot: needs a Dockerfile or agent.toml"]],
  ];
  test.each(cases)("%s", async (_name, tree, expected) => {
    expect(await checkedLines(tree)).toEqual(expected);
  });
});

describe("an agent that a task deploys", () => {
  const step = { id: "agent", type: "deploy_agent", a2a_agent_id: "bot" };
  const tree = (toml: string): FolderTree => ({
    ...agent(toml),
    "agents/idle/Dockerfile": "FROM scratch\n",
    "tasks/t.json": JSON.stringify([step]),
  });

  test("is written after its image, which has an id of its own, and stored as its author wrote it", async () => {
    using folder = temporaryFolder(tree('[default_env_vars]\nMODE = "x"\n[metadata]\nmin_disk_size_gb = 20\n'));
    const store = memoryStore();
    const { plan } = await make({ folder: folder.path, store });
    expect(lines(plan)).toEqual(["agents/bot (Dockerfile image): v1 (new)", "agents/bot: v1 (new)", "tasks/t.json: v1 (new)"]);
    const id = `@local${folder.path}/bot`;
    expect(store.json(`records/agent/${encodedId(id)}/1.json`)).toEqual({
      id,
      version: 1,
      type: "a2a_agent",
      docker_image_artifact: { id: `${id}__agent_image`, version: 1, type: "docker_image" },
      default_env_vars: { MODE: "x" },
      metadata: { min_disk_size_gb: 20 },
    });
    expect(store.json(`records/task/${encodedId(`@local${folder.path}/t`)}/1.json`)).toMatchObject({
      steps: [{ id: "agent", type: "deploy_agent", a2a_agent_id: id, agent_name: "default-agent", cpu: 1 }],
    });
  });

  test("is written anew for a change of its own or of its image, and for nothing else", async () => {
    using folder = temporaryFolder(tree(""));
    const store = memoryStore();
    await make({ folder: folder.path, store });
    writeTree(folder.path, { "agents/bot/agent.toml": "[metadata]\ntakes_credentials = false\n" });
    expect(changes((await make({ folder: folder.path, store })).plan)).toEqual([
      "agents/bot (Dockerfile image): v2 (files changed: agent.toml)",
      expect.stringMatching(/^agents\/bot: v2 \(config changed; artifact .*__agent_image is written anew \(v1 → v2\)\)$/),
    ]);
    expect(changes((await make({ folder: folder.path, store })).plan)).toEqual([]);
  });

  test("can't be an env, and an env can't be one", async () => {
    const steps = [
      step,
      { id: "env", type: "deploy_env", env_id: "bot" },
      { id: "two", type: "deploy_agent", a2a_agent_id: "crm", a2a_agent_version: 2 },
    ];
    const root = "@local/elsewhere/x";
    expect(await checkedLines({ ...tree(""), "tasks/t.json": JSON.stringify(steps) })).toEqual([]);
    expect(
      await checkedLines({
        ...tree(`id = "${root}"\n`),
        "tasks/t.json": JSON.stringify([
          { ...step, a2a_agent_id: root, a2a_agent_version: 1 },
          { id: "env", type: "deploy_env", env_id: root },
        ]),
      }),
    ).toEqual([
      `pinned tasks/t.json: step 'agent': a2a_agent_id: "${root}" is this bundle's own, which is written by this run and has no fixed version: leave out the version`,
      `wrong-kind tasks/t.json: step 'env': env_id: "bot" is this bundle's agent of type a2a_agent (agents/bot), and the field takes an env`,
    ]);
  });
});
