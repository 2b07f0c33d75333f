import { problemLine } from "@agent-env/protocol";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { idRootOf } from "./id-root.ts";

const LONG = `/${"x".repeat(200)}`.repeat(21);

describe("a path that no id can start with is refused by its part", () => {
  test.each([
    [
      "/srv/a:b/demo",
      [
        '/srv/a:b: can\'t be part of an id: it holds ":" (U+003A); letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename the folder, or move the bundle',
      ],
    ],
    ["/~/demo", ["/~: would read as the home folder in an id: move the bundle elsewhere"]],
    [LONG, [`${LONG}: is so long a path that an id under it has no room for a name: move the bundle up`]],
  ])("%s", (disk, lines) => {
    expect(idRootOf(disk).problems.map(problemLine)).toEqual(lines);
  });
});

test("a home that is no folder, or the root, is taken from the account", () => {
  using home = temporaryFolder();
  const under = (value: string) => {
    vi.stubEnv("HOME", value);
    try {
      return idRootOf(home.path).idRoot;
    } finally {
      vi.unstubAllEnvs();
    }
  };
  expect(under(home.path)).toBe("@local/~");
  for (const none of ["", "/", "relative", `${home.path}/not-there`]) expect(under(none)).toBe(`@local${home.path}`);
});
