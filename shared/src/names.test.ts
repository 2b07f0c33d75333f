import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  bareIdProblem,
  deploymentSlug,
  encodedFileName,
  encodeId,
  encodeLocally,
  idSegmentProblem,
  localIdProblem,
  looksEncoded,
  serverContainers,
  serverNameProblem,
} from "./names.ts";

const sha256Hex = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("an id's encoded form", () => {
  test.each([
    ["@local/~/demo/items", "local/demo-items-e5738fac718b"],
    ["@local/~/demo/items__env_image", "local/demo-items-env-image-c7126fe4bbaa"],
    ["@local/~/demo/shop__backend_image", "local/demo-shop-backend-image-4c13bceccf46"],
    ["@local/~/demo/suite", "local/demo-suite-d93fd317c20d"],
    ["@local/~/demo", "local/demo-ba17a0eea2b3"],
    ["@local/srv/bundles/Straße (2)/mail", "local/srv-bundles-strasse-2-mail-c070c6b2b5b3"],
    ["@local/~/日本/メモ", "local/c370f1855dad"],
    ["team/crm", "team/crm"],
  ])("%s is %s", (id, encoded) => {
    expect(encodeId(id, sha256Hex)).toBe(encoded);
  });

  test("a bare id's built image is named by the local form", () => {
    expect(encodeLocally("team/crm", sha256Hex)).toBe("local/team-crm-98ba0998517e");
  });

  test("a bare id of more than 200 bytes is cut to slug and hash", () => {
    const id = `team/${"é".repeat(98)}`;
    expect(encodeId(id, sha256Hex)).toBe(`team-${"e".repeat(43)}-${sha256Hex(id).slice(0, 12)}`);
    expect(encodeId(id.slice(0, -1), sha256Hex)).toBe(id.slice(0, -1));
  });

  test("a file name has dashes for slashes", () => {
    expect(encodedFileName("local/demo-items-e5738fac718b")).toBe("local-demo-items-e5738fac718b");
  });
});

describe("a deployment's slug", () => {
  test.each([
    ["@local/~/demo/items", "items"],
    ["team/crm", "crm"],
    ["@local/~/demo/A very long name of an env, with commas", "a-very-long-name-of-an-e"],
    ["@local/~/日本/メモ", "env"],
    ["@local/~/demo/a__b", "a-b"],
  ])("of %s is %s", (id, slug) => {
    expect(deploymentSlug(id)).toBe(slug);
  });
});

describe("the legality of local ids", () => {
  test.each(["@local/~/demo/items", "@local/srv/Straße (2)/mail", "@local/~/日本/メモ", "@local/a/b+c,d&e@f~g", "@local/~/नमस्ते"])(
    "%s is legal",
    (id) => {
      expect(localIdProblem(id)).toBeNull();
    },
  );

  test.each([
    ["items", 'it doesn\'t start with "@local/"'],
    ["@local/a//b", "one of its parts between slashes is empty"],
    ["@local/", "one of its parts between slashes is empty"],
    ["@local/a/../b", 'in its part ".." it stands for a folder'],
    ["@local/a/ b", 'in its part " b" it opens with a space'],
    ["@local/a/b ", 'in its part "b " it closes with a space'],
    ["@local/a/e\u0301", "it isn't in Unicode's composed form (NFC)"],
    ["@local/a/x:y", 'in its part "x:y" it holds ":" (U+003A); letters, digits, space and . _ - ~ @ ( ) + , & are allowed'],
    ["@local/a/x\u3164", 'in its part "x\u3164" it holds U+3164; letters, digits, space and . _ - ~ @ ( ) + , & are allowed'],
    ["@local/a/-\u0301", 'in its part "-\u0301" a combining mark in it doesn\'t follow a letter or digit'],
  ])("%s is refused", (id, reason) => {
    expect(localIdProblem(id)).toBe(reason);
  });

  test("at most 4,071 bytes are legal", () => {
    expect(localIdProblem(`@local/${"a".repeat(4064)}`)).toBeNull();
    expect(localIdProblem(`@local/${"a".repeat(4065)}`)).toBe("it has 4072 bytes, and 4071 is the most");
    expect(bareIdProblem("a".repeat(4071))).toBeNull();
    expect(bareIdProblem("a".repeat(4072))).toBe("it has 4072 bytes, and 4071 is the most");
  });

  test("a segment of a name's own is checked alone", () => {
    expect(idSegmentProblem("items")).toBeNull();
    expect(idSegmentProblem("a/b")).toBe('it holds "/" (U+002F); letters, digits, space and . _ - ~ @ ( ) + , & are allowed');
  });
});

test("a bare id that looks like an encoded local one is recognised", () => {
  expect(["local/x", "local-demo-e5738fac718b", "local-e5738fac718b", "local-demo", "locals/x", "team/crm"].map(looksEncoded)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

describe("server names", () => {
  test("an MCP server occupies its name, a website two names", () => {
    expect(serverContainers({ kind: "mcp", name: "items" })).toEqual(["items"]);
    expect(serverContainers({ kind: "website", name: "shop" })).toEqual(["shop-website-backend", "shop-website-frontend"]);
  });

  test("a name must be a host name and a path part", () => {
    const problem = (name: string, kind: "mcp" | "website" = "mcp") => serverNameProblem({ kind, name });
    expect(problem("Items_2.x-y")).toBeNull();
    expect(problem("a b")).toBe("only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path");
    expect(problem("..")).toBe("it would be read as a folder");
    expect(problem("a".repeat(63))).toBeNull();
    expect(problem("a".repeat(47), "website")).toBe(
      `"${"a".repeat(47)}-website-frontend", a part of its container's name, is over 63 characters, the most a host name's part can have`,
    );
  });
});
