import { AuthorError } from "./author-error.ts";
import { type Complete, type Completions, checkCompletions } from "./completion.ts";
import type { ToolContext } from "./context.ts";
import { InvalidParams, UnknownResource } from "./mcp/failure.ts";
import { checkOptions, type OptionNames } from "./options.ts";
import { type UriReader, uriTemplate, type Variables } from "./uri-template.ts";

type Described = { readonly name: string; readonly title?: string; readonly description?: string; readonly mimeType?: string };

export type ResourceDefinition = Described & {
  /** Text as it is, bytes as base64, any other value as JSON. */
  readonly read: (context: ToolContext) => unknown;
};

export type ResourceTemplateDefinition<Template extends string> = Described & {
  /** As of a resource; undefined where the variables name nothing. */
  readonly read: (variables: Variables<Template>, context: ToolContext) => unknown;
  /** Values to propose for a variable that is being typed. */
  readonly complete?: { readonly [Name in keyof Variables<Template>]?: Complete };
};

const RESOURCE_OPTIONS: OptionNames<ResourceDefinition> = { name: true, title: true, description: true, mimeType: true, read: true };
const TEMPLATE_OPTIONS: OptionNames<ResourceTemplateDefinition<string>> = { ...RESOURCE_OPTIONS, complete: true };

/** A resource as `resources/list` shows it, a template as `resources/templates/list` does. */
export type ListedResource = Described & { readonly uri: string };
export type ListedTemplate = Described & { readonly uriTemplate: string };
export type ResourceContents = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);

type Template = {
  readonly listed: ListedTemplate;
  readonly variables: UriReader;
  readonly read: (variables: Readonly<Record<string, string>>, context: ToolContext) => unknown;
  readonly complete: Completions | undefined;
};

/** The resources of one environment, under fixed URIs and under templates. */
export class Resources {
  readonly #resources = new Map<string, ResourceDefinition>();
  readonly #templates = new Map<string, Template>();

  get size(): number {
    return this.#resources.size + this.#templates.size;
  }

  add(uri: string, definition: ResourceDefinition): void {
    if (!URL.canParse(uri)) {
      throw new AuthorError({
        what: `resource ${JSON.stringify(uri)} has no URI`,
        why: "clients read a resource by an absolute URI",
        next: 'write one with a scheme, for example "items://all"',
      });
    }
    if (this.#resources.has(uri)) throw twice("resource", uri);
    checkOptions(`resource ${JSON.stringify(uri)}`, definition, RESOURCE_OPTIONS);
    this.#resources.set(uri, definition);
  }

  addTemplate<Text extends string>(template: Text, definition: ResourceTemplateDefinition<Text>): void {
    const { names, read: variables } = uriTemplate(template);
    if (this.#templates.has(template)) throw twice("resource template", template);
    const what = `resource template ${JSON.stringify(template)}`;
    checkOptions(what, definition, TEMPLATE_OPTIONS);
    const { read, complete, ...described } = definition;
    checkCompletions(what, names, complete);
    this.#templates.set(template, {
      listed: { uriTemplate: template, ...described },
      variables,
      // The template's names are those that its type has.
      read: (values, context) => read(values as Variables<Text>, context),
      complete,
    });
  }

  list(): ListedResource[] {
    return [...this.#resources].map(([uri, { read: _read, ...listed }]) => ({ uri, ...listed }));
  }

  templates(): ListedTemplate[] {
    return [...this.#templates.values()].map(({ listed }) => listed);
  }

  /** What is proposed for a template's variables. Throws `InvalidParams` for an unknown template. */
  completions(template: string): Completions | undefined {
    const known = this.#templates.get(template);
    if (known === undefined) throw new InvalidParams(`Unknown resource template: ${template}`);
    return known.complete;
  }

  /** Throws `UnknownResource` if nothing has that URI. A resource of its own counts before a template that fits it. */
  async read(uri: string, context: ToolContext): Promise<ResourceContents> {
    const resource = this.#resources.get(uri);
    if (resource !== undefined) return contents(uri, resource.mimeType, await resource.read(context));
    for (const { listed, variables, read } of this.#templates.values()) {
      const values = variables(uri);
      const value = values === undefined ? undefined : await read(values, context);
      if (value !== undefined) return contents(uri, listed.mimeType, value);
    }
    throw new UnknownResource(uri);
  }
}

function contents(uri: string, mimeType: string | undefined, value: unknown): ResourceContents {
  if (value instanceof Uint8Array) return { ...head(uri, mimeType), blob: Buffer.from(value).toString("base64") };
  if (typeof value === "string") return { ...head(uri, mimeType), text: value };
  return { ...head(uri, mimeType ?? "application/json"), text: JSON.stringify(value ?? null) };
}

const head = (uri: string, mimeType: string | undefined) => ({ uri, ...(mimeType === undefined ? {} : { mimeType }) });

const twice = (kind: string, uri: string): AuthorError =>
  new AuthorError({ what: `${kind} ${JSON.stringify(uri)} is there twice`, why: "each URI names one", next: "change one of them" });
