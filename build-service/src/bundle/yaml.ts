import { LineCounter, parseDocument, visit } from "yaml";

/**
 * YAML of the core schema, with nothing in it that makes more of a text than it says: no aliases, no tags, no key twice.
 * Throws a SyntaxError that says where; `firstLine` is the line of the file that the text starts at.
 */
export function parseYaml(text: string, firstLine = 1): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { schema: "core", uniqueKeys: true, prettyErrors: false, lineCounter });
  const fail = (reason: string, offset: number): never => {
    const { line, col } = lineCounter.linePos(offset);
    throw new SyntaxError(`${reason} (line ${line + firstLine - 1} column ${col})`);
  };
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    fail(code === "MULTIPLE_DOCS" ? "a second document begins" : message, pos[0]);
  }
  visit(document, {
    Alias: (_key, { source, range }) => fail(`the alias *${source} is not allowed`, range?.[0] ?? 0),
  });
  return document.toJS();
}
