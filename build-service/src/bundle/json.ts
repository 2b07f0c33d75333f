/** The deepest nesting that a config file may have. */
export const MAX_DEPTH = 500;

/**
 * JSON as a config file may hold it: no key twice in one object, no nesting deeper than 500. Throws a SyntaxError that
 * says where.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  checkKeysAndDepth(text);
  return value;
}

/** A string with the colon that makes it a key, or a bracket. In text that is known to be JSON, nothing else looks so. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g;

/** Each open object's keys so far are on the stack; an array stands there as null. */
function checkKeysAndDepth(text: string): void {
  const open: (Set<string> | null)[] = [];
  for (const { 0: token, 1: string, 2: colon, index } of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (string === undefined) open.pop();
    else if (colon !== undefined) addKey(open.at(-1), string, () => position(text, index));
    if (open.length > MAX_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels (${position(text, index)})`);
  }
}

function addKey(keys: Set<string> | null | undefined, string: string, where: () => string): void {
  const key = String(JSON.parse(string));
  if (keys?.has(key)) throw new SyntaxError(`the key ${JSON.stringify(key)} is there twice (${where()})`);
  keys?.add(key);
}

function position(text: string, index: number): string {
  const before = text.slice(0, index).split("\n");
  return `line ${before.length} column ${(before.at(-1)?.length ?? 0) + 1}`;
}
