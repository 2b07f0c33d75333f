import { describe, expect, test } from "vitest";
import { withVendoredImports } from "./vendor.ts";

describe("a packed module takes vendored packages from vendor/", () => {
  const cases: [code: string, packed: string][] = [
    ['import Docker from "dockerode";', 'import Docker from "../../vendor/dockerode.js";'],
    ['const tar = await import("tar-stream");', 'const tar = await import("../../vendor/tar-stream.js");'],
    [
      'import { Client } from "@modelcontextprotocol/sdk/client/index.js";',
      'import { Client } from "../../vendor/modelcontextprotocol-sdk-client-index.js";',
    ],
    [
      'import.meta.resolve("tree-sitter-python/tree-sitter-python.wasm")',
      'new URL("../../vendor/tree-sitter-python.wasm", import.meta.url).href',
    ],
    ['import { z } from "zod";', 'import { z } from "zod";'],
    ['const name = "dockerode";', 'const name = "dockerode";'],
  ];
  test.each(cases)("%s", (code, packed) => expect(withVendoredImports(code, "src/images/engine.js")).toBe(packed));

  test("from whatever folder it lies in", () => {
    expect(withVendoredImports('import Docker from "dockerode";', "src/images/card-scan/python.js")).toBe(
      'import Docker from "../../../vendor/dockerode.js";',
    );
  });
});
