import type { Problem } from "@agent-env/protocol";

/** What is done on a page. */
type Deed =
  | { readonly is: "goto"; readonly path: string }
  | { readonly is: "click"; readonly selector: string }
  | { readonly is: "fill"; readonly selector: string; readonly value: string }
  | { readonly is: "press"; readonly key: string }
  | { readonly is: "wait"; readonly words: string };

/** One line of an act script, as it is written and as it is meant. */
export type Act = Deed & { readonly line: number; readonly text: string };

/** What an act takes, and what it means with that: a deed, or what is wrong. */
type Form = { readonly takes: readonly string[]; readonly means: (...words: readonly string[]) => Deed | string };

const FORMS: Readonly<Record<string, Form>> = {
  goto: { takes: ["PATH"], means: (path = "") => (/^\/(?![/\\])/.test(path) ? { is: "goto", path } : notAPath(path)) },
  click: { takes: ["SELECTOR"], means: (selector = "") => ({ is: "click", selector }) },
  fill: { takes: ["SELECTOR", "VALUE"], means: (selector = "", value = "") => ({ is: "fill", selector, value }) },
  press: { takes: ["KEY"], means: (key = "") => ({ is: "press", key }) },
  wait: { takes: ["TEXT"], means: (words = "") => ({ is: "wait", words }) },
};

/**
 * Reads an act script: an act a line, `click "text=Sign in"`. A word with spaces stands in double quotes, as in JSON; lines that
 * are empty or start with `#` are none. Every line that can't be read is a problem, with its place after `file`.
 */
export function parseActs(text: string, file: string): { readonly acts: readonly Act[]; readonly problems: readonly Problem[] } {
  const acts: Act[] = [];
  const problems: Problem[] = [];
  for (const [at, written] of text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\r|\n/)
    .entries()) {
    const line = written.trim();
    if (line === "" || line.startsWith("#")) continue;
    const deed = deedOf(line);
    if (typeof deed === "string") problems.push({ code: "act-script", path: `${file}:${at + 1}`, message: deed });
    else acts.push({ ...deed, line: at + 1, text: line });
  }
  return { acts, problems };
}

/** What a line means, or what is wrong with it. */
function deedOf(line: string): Deed | string {
  const words = wordsOf(line);
  if (typeof words === "string") return words;
  const [name = "", ...given] = words;
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
  if (form === undefined) return `${JSON.stringify(name)} is no act; there are ${Object.keys(FORMS).join(", ")}`;
  const isComplete = given.length === form.takes.length && given[0] !== "";
  return isComplete ? form.means(...given) : `write ${[name, ...form.takes].join(" ")}, with double quotes around what has spaces in it`;
}

function notAPath(path: string): string {
  return `expected a path of the site, as /cart, and found ${JSON.stringify(path)}`;
}

/** The words of a line, or why they can't be told apart. */
function wordsOf(line: string): readonly string[] | string {
  const words: string[] = [];
  let rest = line;
  while (rest !== "") {
    const [word = ""] = /^(?:"(?:[^"\\]|\\.)*"|[^\s"]\S*)/.exec(rest) ?? [];
    if (word === "") return `a double quote is not closed: ${rest}`;
    const end = rest.slice(word.length);
    if (end !== "" && !/^\s/.test(end)) return `a space is missing after ${word}`;
    const value = word.startsWith('"') ? unquoted(word) : word;
    if (value === null) return `${word}: a backslash may stand before " and \\ only`;
    words.push(value);
    rest = end.trimStart();
  }
  return words;
}

function unquoted(word: string): string | null {
  return /^"(?:[^"\\]|\\["\\])*"$/.test(word) ? String(JSON.parse(word.replaceAll("\t", "\\t"))) : null;
}
