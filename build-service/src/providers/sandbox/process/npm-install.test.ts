import { describe, expect, test } from "vitest";
import { fits, isNpmInstall } from "./npm-install.ts";

describe("a version is in an npm range", () => {
  const cases: [range: string, inside: string[], outside: string[]][] = [
    ["1.2.3", ["1.2.3"], ["1.2.4", "1.2.3-rc.1"]],
    ["^1.2.3", ["1.2.3", "1.9.0"], ["1.2.2", "2.0.0"]],
    ["^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]],
    ["^0.0.3", ["0.0.3"], ["0.0.4"]],
    ["^4", ["4.0.0", "4.6.7"], ["5.0.0"]],
    ["~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0", "1.2.2"]],
    ["~1", ["1.9.0"], ["2.0.0"]],
    [">=1.2", ["1.2.0", "3.0.0"], ["1.1.9"]],
    ["1.x", ["1.0.0", "1.9.9"], ["2.0.0"]],
    ["1.2", ["1.2.9"], ["1.3.0"]],
    ["*", ["0.0.1", "9.9.9"], []],
    ["latest", ["1.0.0"], []],
    ["", ["1.0.0"], []],
    // What can't be judged doesn't fit.
    ["1 || 2", [], ["1.0.0"]],
    ["file:../x", [], ["1.0.0"]],
    ["workspace:*", [], ["1.0.0"]],
    ["github:a/b", [], ["1.0.0"]],
  ];
  test.each(cases)("%s", (range, inside, outside) => {
    expect(inside.filter((version) => !fits(version, range))).toEqual([]);
    expect(outside.filter((version) => fits(version, range))).toEqual([]);
  });
});

test("only an npm install that names no package is one that may be skipped", () => {
  const skipped = ["npm ci", "npm install", "npm i", "npm  ci --omit=dev", "npm install --no-audit --no-fund"];
  const run = ["npm", "npm run build", "npm install express", "npm ci && rm x", "npm ci; rm x", "npm ci --prefix web", "NPM ci", "pnpm ci"];
  expect(skipped.filter((command) => !isNpmInstall(command))).toEqual([]);
  expect(run.filter(isNpmInstall)).toEqual([]);
});
