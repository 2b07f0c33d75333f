/** The deepest nesting that a config file may have. */
export const MAX_DEPTH = 500;

/**
 * JSON as a config file may hold it: no key twice in one object, no nesting deeper than 500. Throws a SyntaxError that
 * says where, by line and column.
 */
export function parseJson(text: string): unknown {
  checkJson(text);
  return JSON.parse(text);
}

/** An open object with its keys so far, or an open array. */
type Open = { readonly keys: Set<string> } | { readonly keys: null };
type Expected = "a value" | 'a value or "]"' | "a key" | 'a key or "}"' | '":"' | '"," or "}"' | '"," or "]"' | "nothing more";

const PLAIN = String.raw`[^"\\\u0000-\u001f]*`;
const ESCAPED = String.raw`\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})`;
const STRING = `"${PLAIN}(?:${ESCAPED}${PLAIN})*"`;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/.source;
const TOKEN = new RegExp(`(${STRING})|(${SCALAR})|[{}[\\]:,]`, "y");
const SPACE = /[ \t\n\r]*/y;

/** Reads the tokens by JSON's grammar (RFC 8259), which an engine's own messages give no position for. */
function checkJson(text: string): void {
  const open: Open[] = [];
  let expected: Expected = "a value";
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, TOKEN.lastIndex)) {
    TOKEN.lastIndex = at;
    const [token, string, scalar] = TOKEN.exec(text) ?? [];
    const fail = (reason: string): never => {
      throw new SyntaxError(`${reason} (${position(text, at)})`);
    };
    const isValue = expected === "a value" || expected === 'a value or "]"';
    const isKey = expected === "a key" || expected === 'a key or "}"';
    const inside = open.at(-1);
    if (string !== undefined && isKey) {
      const key = String(JSON.parse(string));
      if (inside?.keys?.has(key)) fail(`the key ${JSON.stringify(key)} is there twice`);
      inside?.keys?.add(key);
      expected = '":"';
    } else if ((string ?? scalar) !== undefined && isValue) expected = afterValue(inside);
    else if (token === ":" && expected === '":"') expected = "a value";
    else if ((token === "{" || token === "[") && isValue) {
      if (open.length === MAX_DEPTH) fail(`nested deeper than ${MAX_DEPTH} levels`);
      open.push(token === "{" ? { keys: new Set() } : { keys: null });
      expected = token === "{" ? 'a key or "}"' : 'a value or "]"';
    } else if (token === "," && (expected === '"," or "}"' || expected === '"," or "]"')) expected = inside?.keys ? "a key" : "a value";
    else if ((token === "}" || token === "]") && expected.endsWith(`"${token}"`)) {
      open.pop();
      expected = afterValue(open.at(-1));
    } else fail(`expected ${expected}`);
  }
  if (expected !== "nothing more") throw new SyntaxError(`expected ${expected} (${position(text, text.length)})`);
}

function afterValue(inside: Open | undefined): Expected {
  if (inside === undefined) return "nothing more";
  return inside.keys ? '"," or "}"' : '"," or "]"';
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

function position(text: string, index: number): string {
  const before = text.slice(0, index).split("\n");
  return `line ${before.length} column ${(before.at(-1)?.length ?? 0) + 1}`;
}
