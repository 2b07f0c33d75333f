import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { environmentName, server } from "../../../test/fixtures/env-folders.ts";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { SUITE } from "../../../test/fixtures/suite-bundle.ts";
import { checkBundle } from "./check.ts";

describe("B5 refusals of tasks", () => {
  const steps = (...list: object[]): FolderTree => ({ ...server("a", environmentName("a")), "tasks/t.json": JSON.stringify(list) });
  const cases: [string, FolderTree, string[]][] = [
    [
      "steps that their types can't read",
      steps(
        { id: "x", type: "deploy_env", env_id: 1 },
        { id: "y", type: "deploy_env", env_id: "a", ttl_seconds: "1", fail_task_on_error: "no", retry_config: { max_retries: -1 } },
        { id: "z", type: "deploy_env", env_id: "a", retry_config: { max_retries: 2 } },
      ),
      [
        "bad-step tasks/t.json: step 'x': env_id: expected a string, and found 1",
        "bad-step tasks/t.json: step 'y': fail_task_on_error: expected true or false, and found \"no\"",
        "bad-step tasks/t.json: step 'y': retry_config.max_retries: expected 0 or more, and found -1",
        "bad-step tasks/t.json: step 'y': ttl_seconds: expected a number, and found \"1\"",
        "bad-step tasks/t.json: step 'z': retry_config names no step: set retry_from_step_id",
      ],
    ],
    [
      "steps that don't hang together",
      steps(
        { id: "x", type: "deploy_env", env_id: "a", depends_on: ["z"] },
        { id: "x", type: "deploy_env", env_id: "a" },
        { id: "z", type: "deploy_env", env_id: "a", depends_on: [] },
      ),
      [
        "bad-task tasks/t.json: step 'x' depends on \"z\", and only earlier steps can be waited for",
        'bad-task tasks/t.json: step ids repeat: "x": give each step its own',
      ],
    ],
    [
      "retries that go on at another branch, or at a later step",
      steps(
        { id: "x", type: "reset_env", env_id: "a", retry_config: { retry_from_step_id: "x" } },
        { id: "y", type: "reset_env", env_id: "a", depends_on: [], retry_config: { go_to_step_id: "x", max_retries: 0 } },
        { id: "z", type: "reset_env", env_id: "a", depends_on: ["y"], retry_config: { retry_from_step_id: "last" } },
        { id: "last", type: "reset_env", env_id: "a", retry_config: { retry_from_step_id: "x" } },
      ),
      [
        "bad-task tasks/t.json: step 'y' retries from \"x\", which is neither the step itself nor one that it runs after",
        "bad-task tasks/t.json: step 'z' retries from \"last\", which is neither the step itself nor one that it runs after",
      ],
    ],
    [
      "seeds for servers that the env doesn't have, and two for one server",
      {
        ...SUITE,
        "artifacts/extra/artifact.toml": 'type = "environment"\nenvironment_name = "items"\n',
        "artifacts/extra/x": "",
        "artifacts/seed/artifact.toml": 'type = "environment_universe"\nenvironment_artifacts = ["extra"]\n',
        "artifacts/seed/mail/mail.json": "",
      },
      [
        'seed-name tasks/all.json: step \'load\': artifacts/seed has data for "mail", and the env\'s servers are "items" and "shop"',
        'seed-twice artifacts/seed: has two environments of one name, "items": keep one',
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });

  test("a field that a step type doesn't have is a warning", async () => {
    using folder = temporaryFolder(steps({ id: "x", type: "deploy_env", env_id: "a", ttl: 1 }));
    const { problems, warnings } = await checkBundle(folder.path);
    expect(problems).toEqual([]);
    expect(warnings).toEqual([{ path: "tasks/t.json: step 'x'", message: 'deploy_env has no "ttl": not used, and not written' }]);
  });

  test("of the original that have no effect here are warned about too", async () => {
    const seed = { id: "y", type: "load_artifact", env_id: "a", env_step_id: "x", artifact_id: "seed" };
    const verify = { id: "z", type: "env_outcome_verifier", env_id: "a", file_artifact_id: "v", prompt_id: "p", verifier_id: null };
    using folder = temporaryFolder(steps({ id: "x", type: "deploy_env", env_id: "a", disk_size_gb: 20 }, seed, verify));
    const { warnings } = await checkBundle(folder.path);
    expect(warnings.map(({ message }) => message)).toEqual([
      'deploy_env makes no use of "disk_size_gb" yet: only written',
      'load_artifact makes no use of "env_step_id" yet: only written',
      'env_outcome_verifier makes no use of "prompt_id" yet: only written',
    ]);
  });
});
