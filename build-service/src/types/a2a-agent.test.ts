import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import type { FolderTree } from "../../../test/fixtures/folder.ts";

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
