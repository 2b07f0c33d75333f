import { AuthorError } from "./author-error.ts";

/** The variables that a template's text names, each a text. `{+path}` may hold slashes, `{id}` not. */
export type Variables<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name extends `+${infer Bare}` ? Bare : Name]: string } & Variables<Rest>
  : unknown;

/** Reads URIs made by a template: the variables of one that fits, percent-decoded; undefined for another. */
export type UriReader = (uri: string) => Readonly<Record<string, string>> | undefined;

const EXPRESSION = /\{([^{}]*)\}/;
const NAME = /^\+?[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The variables of a URI template, and what reads URIs of it: `{name}` and `{+name}` of RFC 6570, which is what can be read
 * back without doubt. Throws an `AuthorError` for other expressions, and for a template without any.
 */
export function uriTemplate(template: string): { readonly names: readonly string[]; readonly read: UriReader } {
  const names: string[] = [];
  const pattern = template.split(EXPRESSION).map((text, at) => {
    if (at % 2 === 0) return text.replace(/[$()*+./?[\\\]^{|}-]/g, "\\$&");
    if (!NAME.test(text) || names.includes(bare(text))) throw unreadable(template);
    names.push(bare(text));
    return text.startsWith("+") ? "(.+)" : "([^/?#]+)";
  });
  const scheme = /^[a-z][a-z0-9+.-]*:/i;
  if (names.length === 0 || !scheme.test(template) || /[{}]/.test(template.replaceAll(new RegExp(EXPRESSION, "g"), ""))) {
    throw unreadable(template);
  }
  const whole = new RegExp(`^${pattern.join("")}$`);
  return { names, read: (uri) => variablesOf(names, whole.exec(uri)) };
}

function variablesOf(names: readonly string[], match: RegExpExecArray | null): Readonly<Record<string, string>> | undefined {
  if (match === null) return undefined;
  try {
    return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(match[at + 1] ?? "")]));
  } catch (error) {
    // An escape that is none: no URI of this template.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

const bare = (name: string): string => name.replace(/^\+/, "");

function unreadable(template: string): AuthorError {
  return new AuthorError({
    what: `resource template ${JSON.stringify(template)} can't be read`,
    why: "a template is a URI with a scheme, and at least one {name} or {+name}, each name once",
    next: 'write for example "items://{id}/history"',
  });
}
