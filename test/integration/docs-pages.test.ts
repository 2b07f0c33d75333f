import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGES = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const EXAMPLES = readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" })
  .filter((path) => basename(path) === "README.md")
  .map((path) => join("examples", path));

/** The tests' sources, to see which page each of them runs. */
const TESTS = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => text(join("test", path)));

describe("every code block in docs/ is run", () => {
  test.each(PAGES.filter((page) => /^```/m.test(text(join("docs", page)))))("docs/%s has a test that reads its blocks", (page) => {
    const readers = TESTS.filter(
      (source) => source.includes(`docPage("${page}")`) || source.includes(`docDeeds("${page}"`) || source.includes(`docs/${page}"`),
    );
    expect(readers.length).toBeGreaterThan(0);
  });
});

describe("every link leads somewhere", () => {
  test.each([...PAGES.map((page) => join("docs", page)), "README.md", "sdk/README.md", ...EXAMPLES])("%s", (path) => {
    const links = [...text(path).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target));
    expect(links.filter((link) => !isThere(path, link))).toEqual([]);
  });
});

function isThere(from: string, link: string): boolean {
  const [file = "", heading] = link.split("#");
  const path = file === "" ? from : join(dirname(from), file);
  if (!existsSync(join(ROOT, path))) return false;
  return heading === undefined || (statSync(join(ROOT, path)).isFile() && headingsOf(path).includes(heading));
}

/** The names under which a page's headings are linked to, as GitHub makes them. */
function headingsOf(path: string): string[] {
  return [...text(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
