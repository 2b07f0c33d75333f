import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { edgeUrlOf, noteEdge } from "./edge-url.ts";

const DEFAULT = "http://localhost:8787";

test("N1 the edge gateway is the one that was noted, until the note is taken away", () => {
  using folder = temporaryFolder({});
  expect(edgeUrlOf(folder.path)).toBe(DEFAULT);
  const forget = noteEdge(folder.path, "http://localhost:1234");
  expect(edgeUrlOf(folder.path)).toBe("http://localhost:1234");
  forget();
  expect(edgeUrlOf(folder.path)).toBe(DEFAULT);
});

test("the note of a process that was killed says nothing", () => {
  using folder = temporaryFolder({});
  const { pid } = spawnSync(process.execPath, ["--version"]);
  writeFileSync(join(folder.path, "edge.json"), JSON.stringify({ url: "http://localhost:1234", pid }));
  expect(edgeUrlOf(folder.path)).toBe(DEFAULT);
});
