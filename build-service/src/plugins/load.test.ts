import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { loadContribution } from "./load.ts";

const contribution = {
  package: "odd",
  kind: "envTypes",
  name: "robot",
  path: "robot.js",
  status: "active",
  code: null,
  why: null,
} as const;

test.each([
  [
    "members that throw when they are looked at",
    'export default new Proxy({}, { get() { throw new Error("gotcha"); } });',
    { code: "invalid-plugin", why: 'the plugin "odd" has one, which can\'t be used: looking at it throws: gotcha' },
  ],
  [
    "an error of several lines",
    'throw new Error("no\\nfuel");',
    { code: "load-failed", why: 'the plugin "odd" has one, and failed to load: no\\u000afuel' },
  ],
  [
    "something thrown that is no error",
    "throw Object.create(null);",
    { code: "load-failed", why: 'the plugin "odd" has one, and failed to load: [Object: null prototype] {}' },
  ],
  [
    "an import that never ends",
    "await new Promise(() => {}); export default {};",
    { code: "load-failed", why: 'the plugin "odd" has one, and failed to load: it was not done after 0.2 s' },
  ],
])("a plugin's module with %s is skipped, and says why in one line", async (_name, source, failure) => {
  using folder = temporaryFolder({ "robot.js": source });
  expect(await loadContribution(contribution, folder.path, 200)).toEqual(failure);
});
