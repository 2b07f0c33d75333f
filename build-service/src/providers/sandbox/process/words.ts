/** Names that a Dockerfile's instructions may refer to: what `ENV` and `ARG` have set so far. */
export type Scope = ReadonlyMap<string, string>;

/** A word that can't be read: a quote that doesn't end, a substitution that Docker's builder doesn't know. */
export class UnreadableWord extends Error {
  override readonly name = "UnreadableWord";
}

/** Splits an instruction's arguments at white space outside quotes, and expands each. A `scope` of names; unknown ones are empty. */
export function words(text: string, scope: Scope): string[] {
  return split(text).map((word) => expand(word, scope));
}

/**
 * One word as Docker's builder reads it: quotes removed, `$name`, `${name}`, `${name:-default}`, `${name:+other}` replaced,
 * nothing inside single quotes. Throws `UnreadableWord`.
 */
export function expand(word: string, scope: Scope): string {
  let out = "";
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < word.length; at += 1) {
    const char = word.charAt(at);
    const next = word.charAt(at + 1);
    if (quote === "'") {
      if (char === "'") quote = null;
      else out += char;
    } else if (char === "\\" && next !== "") {
      // Inside double quotes only these are escapes; elsewhere the escape goes with any character.
      out += quote === '"' && next !== '"' && next !== "$" && next !== "\\" ? char + next : next;
      at += 1;
    } else if (char === '"') quote = quote === null ? '"' : null;
    else if (char === "'" && quote === null) quote = "'";
    else if (char === "$") {
      const found = substitution(word, at, scope);
      out += found.value;
      at = found.last;
    } else out += char;
  }
  if (quote !== null) throw new UnreadableWord(`a ${quote} that doesn't end in ${JSON.stringify(word)}`);
  return out;
}

function split(text: string): string[] {
  const found: string[] = [];
  let word = "";
  let quote: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "\\" && quote !== "'") {
      word += char + text.charAt(at + 1);
      at += 1;
      continue;
    }
    if (char === quote) quote = null;
    else if (quote === null && (char === '"' || char === "'")) quote = char;
    if (quote === null && /\s/.test(char)) {
      if (word !== "") found.push(word);
      word = "";
    } else word += char;
  }
  return word === "" ? found : [...found, word];
}

function substitution(word: string, at: number, scope: Scope): { value: string; last: number } {
  const bare = /^\$([A-Za-z_][A-Za-z0-9_]*)/.exec(word.slice(at));
  if (bare?.[1] !== undefined) return { value: scope.get(bare[1]) ?? "", last: at + bare[0].length - 1 };
  if (word.charAt(at + 1) !== "{") return { value: "$", last: at };
  const end = closingBrace(word, at + 2);
  const inner = /^([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-+])([\s\S]*))?$/.exec(word.slice(at + 2, end));
  if (end === -1 || inner?.[1] === undefined) {
    throw new UnreadableWord(`a substitution other than \${name}, \${name:-default} and \${name:+other} in ${JSON.stringify(word)}`);
  }
  const [, name, operator, other = ""] = inner;
  const value = scope.get(name);
  const isSet = value !== undefined && (value !== "" || !operator?.startsWith(":"));
  const useOther = operator?.endsWith("+") ? isSet : operator !== undefined && !isSet;
  return { value: useOther ? expand(other, scope) : operator?.endsWith("+") ? "" : (value ?? ""), last: end };
}

function closingBrace(word: string, from: number): number {
  let depth = 1;
  for (let at = from; at < word.length; at += 1) {
    if (word.charAt(at) === "{") depth += 1;
    if (word.charAt(at) === "}") depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}
