import { expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { BUILT_IN, type Registry, stepTypeNames } from "./registry.ts";

const STEPS = stepTypeNames(BUILT_IN).join(", ");
const environment = 'environment_name = "a"\n';

test("B5 an unknown type, step or provider says why a plugin that has it isn't in effect", async () => {
  const failed = 'the plugin "@acme/robots" has one, and its module fails to load';
  const registry: Registry = {
    ...BUILT_IN,
    unavailable: [
      { what: "env type", name: "robot", why: failed },
      { what: "step type", name: "robot", why: failed },
      { what: "env provider", name: "robot", why: failed },
      { what: "artifact type", name: "robot", why: failed },
    ],
  };
  expect(
    await checkedLines(
      { "envs/a/env.toml": 'type = "robot"\n', "tasks/t.json": '[{"id": "x", "type": "robot"}, {"id": "y", "type": "r"}]' },
      registry,
    ),
  ).toEqual([
    `unknown-type envs/a: there is no env type "robot": known are mcp_server, multi, website; ${failed}`,
    `unknown-type tasks/t.json: step 'x': there is no step type "robot": known are ${STEPS}; ${failed}`,
    `unknown-type tasks/t.json: step 'y': there is no step type "r": known are ${STEPS}`,
  ]);
  expect(
    await checkedLines(
      { "envs/a/env.toml": `${environment}env_provider_type = "robot"\n`, "envs/a/Dockerfile": "FROM scratch\n" },
      registry,
    ),
  ).toEqual([
    `unknown-provider envs/a: env.toml: env_provider_type: there is no provider "robot": installed are gateway, server; ${failed}`,
  ]);
});

test("B5 a provider named as what every object has is unknown", async () => {
  const tree = { "envs/a/env.toml": `${environment}env_provider_type = "constructor"\n`, "envs/a/Dockerfile": "FROM scratch\n" };
  expect(await checkedLines(tree)).toEqual([
    'unknown-provider envs/a: env.toml: env_provider_type: there is no provider "constructor": installed are gateway, server',
  ]);
});

test("a step type of the registry is checked, referenced and stored like one that is built in", async () => {
  const [deploy] = BUILT_IN.steps;
  if (deploy === undefined) throw new Error("no step is built in");
  const registry: Registry = { ...BUILT_IN, steps: [...BUILT_IN.steps, { ...deploy, type: "deploy_robot" }] };
  const tree = { "tasks/t.json": '[{"id": "x", "type": "deploy_robot", "env_id": "@local/x", "env_version": 0}]' };
  expect(await checkedLines(tree)).toEqual([
    `unknown-type tasks/t.json: step 'x': there is no step type "deploy_robot": known are ${STEPS}`,
  ]);
  expect(await checkedLines(tree, registry)).toEqual(["bad-step tasks/t.json: step 'x': env_version: expected more than 0, and found 0"]);
});
