import { describe, expect, test } from "vitest";
import { type BuiltInNames, decideContributions } from "./decide.ts";
import { readManifest } from "./manifest.ts";
import type { PluginPackage } from "./packages.ts";

const builtIn: BuiltInNames = {
  envTypes: ["website"],
  artifactTypes: [],
  taskSteps: [],
  sandboxProviders: ["local"],
  stateProviders: [],
  envProviders: [],
  commands: ["run"],
  bundles: ["hello"],
};

function plugin(name: string, agentEnv: object, more: object = {}): PluginPackage {
  const read = readManifest({ name, agentEnv: { format: 1, ...agentEnv }, ...more });
  if (read === null || "problem" in read) throw new Error(`${name}: ${read?.problem}`);
  return { name, by: "a dependency", folder: `/p/${name}`, manifest: read.manifest, problem: null };
}

/** What is decided, a line each. */
function decided(packages: readonly PluginPackage[], names: Record<string, string[]> = {}): string[] {
  return decideContributions(packages, { builtIn, version: "0.1.0", names }).map(
    ({ package: owner, name, status, code, why }) => `${owner} ${name}: ${status}${code === null ? "" : ` ${code}: ${why}`}`,
  );
}

const robot = (name: string) => plugin(name, { envTypes: { robot: "robot.js" } });

describe("what of plugins is in effect", () => {
  test("a name that nobody else has is active", () => {
    expect(decided([robot("a")])).toEqual(["a robot: active"]);
  });

  test("a built-in name always wins", () => {
    const own = plugin("a", { envTypes: { website: "x.js" }, commands: { run: "x.js" }, bundles: { hello: "hello" } });
    expect(decided([own], { a: ["website"] })).toEqual([
      'a website: conflict builtin-name: the plugin "a" has one, and the built-in env type of that name counts',
      'a run: conflict builtin-name: the plugin "a" has one, and the built-in command of that name counts',
      'a hello: conflict qualified-only: agent-env has a bundle of that name too: the one of "a" runs as a/hello',
    ]);
  });

  test("two packages that claim one name both lose it, and the configuration may give it to one", () => {
    const why = 'the plugins "a" and "b" both have one, so neither counts: [plugins."a"] names = ["robot"] would give it to that one';
    expect(decided([robot("a"), robot("b")])).toEqual([
      `a robot: conflict name-conflict: ${why}`,
      `b robot: conflict name-conflict: ${why}`,
    ]);
    expect(decided([robot("a"), robot("b")], { b: ["robot"] })).toEqual([
      'a robot: replaced replaced-by-config: [plugins."b"] names gives the env type to that plugin',
      "b robot: active",
    ]);
    expect(decided([robot("a"), robot("b")], { a: ["robot"], b: ["robot"] })).toEqual([
      `a robot: conflict name-conflict: ${why}`,
      `b robot: conflict name-conflict: ${why}`,
    ]);
  });

  test("one name in two kinds is no conflict", () => {
    expect(decided([robot("a"), plugin("b", { taskSteps: { robot: "x.js" } })])).toEqual(["a robot: active", "b robot: active"]);
  });

  test.each([
    ["^0.1.0", "active"],
    [">=0.1 <2", "active"],
    ["^1.0.0", 'blocked incompatible-core: the plugin "a" is for agent-env ^1.0.0, and this is 0.1.0'],
    ["latest!", 'blocked incompatible-core: the plugin "a" is for agent-env latest!, and this is 0.1.0'],
  ])("a plugin for agent-env %s is %s", (range, outcome) => {
    const own = plugin("a", { envTypes: { robot: "x.js" } }, { peerDependencies: { "agent-env": range } });
    expect(decided([own])).toEqual([`a robot: ${outcome}`]);
  });

  test("what is blocked claims no name", () => {
    const old = plugin("a", { envTypes: { robot: "x.js" } }, { peerDependencies: { "agent-env": "^9.0.0" } });
    expect(decided([old, robot("b")])[1]).toBe("b robot: active");
  });

  test("names that a plugin doesn't have block it", () => {
    expect(decided([robot("a")], { a: ["rebot"] })).toEqual([
      'a robot: blocked config-invalid: [plugins."a"] names gives it "rebot", which the plugin doesn\'t have',
    ]);
  });

  test("one folder under two names is one plugin", () => {
    expect(decided([robot("a"), { ...robot("b"), folder: "/p/a" }])).toEqual([
      "a robot: active",
      'b robot: skipped already-attached: the plugin "b" is "a" once more',
    ]);
  });

  test("what isn't supported yet says so", () => {
    expect(decided([plugin("a", { stateProviders: { s: "x.js" }, sandboxProviders: { fly: "x.js" } })])).toEqual([
      "a fly: active",
      'a s: skipped invalid-plugin: the plugin "a" has one, and state providers of plugins aren\'t supported yet',
    ]);
  });
});

describe("a manifest that can't be read names what is wrong", () => {
  test.each([
    [{ format: 2 }, "its package.json: agentEnv.format: "],
    [{ format: 1, envType: {} }, "its package.json: agentEnv: unknown envType: known are format, envTypes, "],
    [{ format: 1, envTypes: { a: 1 } }, "its package.json: agentEnv.envTypes.a: expected a string, and found 1"],
  ])("%j", (agentEnv, expected) => {
    const read = readManifest({ name: "a", agentEnv });
    expect(read !== null && "problem" in read ? read.problem : "").toContain(expected);
  });

  test("a package without agentEnv is no plugin", () => {
    expect(readManifest({ name: "a" })).toBeNull();
  });
});
