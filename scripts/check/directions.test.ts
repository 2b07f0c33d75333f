import { describe, expect, test } from "vitest";
import { directionProblems, type PackageManifest } from "./directions.ts";
import { readSource } from "./source-files.ts";

const MANIFESTS: PackageManifest[] = [
  { folder: "shared", name: "@agent-env/protocol", dependencies: ["zod"], devDependencies: [] },
  { folder: "sdk", name: "@agent-env/sdk", dependencies: ["@agent-env/protocol", "hono"], devDependencies: [] },
  { folder: "gateway-worker", name: "@agent-env/gateway", dependencies: ["@agent-env/protocol", "hono"], devDependencies: [] },
  { folder: "build-service", name: "agent-env", dependencies: ["@agent-env/protocol", "@agent-env/gateway"], devDependencies: [] },
];

function problemsOf(path: string, text: string): string[] {
  return directionProblems([readSource(path, text)], MANIFESTS);
}

describe("imports go with the arrows", () => {
  const allowed: [path: string, text: string][] = [
    ["shared/src/card.ts", 'import { z } from "zod";'],
    ["sdk/src/index.ts", 'import { Hono } from "hono";\nimport { card } from "@agent-env/protocol";\nimport "node:http";'],
    ["gateway-worker/src/core/mcp/lists.ts", 'import { roles } from "../deployment/roles.ts";'],
    [
      "gateway-worker/src/hosts/node/main.ts",
      'import { gateway } from "../../core/gateway.ts";\nimport { createServer } from "node:http";',
    ],
    ["build-service/src/types/task.ts", 'import type { Step } from "../run/steps/step.ts";'],
    ["build-service/src/infra/gateway.ts", 'const path = import.meta.resolve("@agent-env/gateway/node");'],
    ["build-service/src/bundle/plan.test.ts", 'import { run } from "../run/run.ts";\nconsole.log(1);'],
  ];
  test.each(allowed)("%s may", (path, text) => expect(problemsOf(path, text)).toEqual([]));

  const refused: [path: string, text: string, problem: string][] = [
    ["shared/src/card.ts", 'import "node:fs";', 'shared/src/card.ts: imports "node:fs": shared/ uses nothing of a platform'],
    ["shared/src/card.ts", 'export * from "hono";', 'shared/src/card.ts: imports "hono": shared/package.json does not name hono'],
    [
      "sdk/src/index.ts",
      'import { card } from "../../shared/src/card.ts";',
      'sdk/src/index.ts: imports "../../shared/src/card.ts": sdk/ takes from another package only what that exports, by its name',
    ],
    [
      "build-service/src/infra/gateway.ts",
      'await import("@agent-env/gateway/node");',
      'build-service/src/infra/gateway.ts: imports "@agent-env/gateway/node": no arrow leads from build-service/ to @agent-env/gateway',
    ],
    [
      "gateway-worker/src/core/mcp/lists.ts",
      'import type { NodeHost } from "../../hosts/node/main.ts";',
      'gateway-worker/src/core/mcp/lists.ts: imports "../../hosts/node/main.ts": core/ knows neither hosts nor routes',
    ],
    [
      "gateway-worker/src/routes/state.ts",
      'import { connect } from "cloudflare:sockets";',
      'gateway-worker/src/routes/state.ts: imports "cloudflare:sockets": core/ and routes/ use nothing of a platform',
    ],
    [
      "build-service/src/store/local.ts",
      'import { runBundle } from "../run/run.ts";',
      'build-service/src/store/local.ts: imports "../run/run.ts": planning, images, records and deploys come before run/ and cli/ (only run/steps/ is declared to them)',
    ],
    [
      "build-service/src/run/run.ts",
      'import "../cli/main.ts";',
      'build-service/src/run/run.ts: imports "../cli/main.ts": only cli/ imports cli/',
    ],
  ];
  test.each(refused)("%s may not: %s", (path, text, problem) => expect(problemsOf(path, text)).toEqual([problem]));
});

describe("only report/ and cli/ print", () => {
  test("a stage that prints is named with its line", () => {
    expect(problemsOf("build-service/src/run/run.ts", "const a = 1;\nconsole.log(a);\n")).toEqual([
      "build-service/src/run/run.ts:2: prints; only report/ and cli/ do, the others emit events",
    ]);
  });

  test("a comment that speaks of printing is none", () => {
    expect(problemsOf("build-service/src/run/run.ts", "// never process.stdout\n/* nor console.log */\n")).toEqual([]);
  });

  test("report/ prints", () => {
    expect(problemsOf("build-service/src/report/plain.ts", "process.stdout.write('')")).toEqual([]);
  });
});
