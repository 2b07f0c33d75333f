import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import type { Deployment, Seen } from "../deployment/deployment.ts";
import { matchesTemplate, serverPrefix } from "../deployment/uris.ts";

const MAX_LINKED = 10_000;
/** A URI that no list has is looked for once more in lists that are older than this. */
const LOOK_AGAIN_MS = 1_000;

/** A server that may have a resource, and the resource's URI there. */
export type Place = { readonly source: string; readonly uri: string };

/** Which server a URI is read from: what is read is what was listed (6-mcp §8). */
export class ResourceRoutes {
  readonly #deployment: Deployment;
  /** URI → the server whose result last named it. */
  readonly #linked = new Map<string, string>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** The servers to ask for a URI, in order: one, or all with resources where nobody is known to have it. */
  async placesOf(seen: Seen, uri: string): Promise<readonly Place[]> {
    const known = this.#known(seen, uri);
    if (known !== null) return [known];
    await this.#deployment.freshCatalogue({ seen, kinds: ["resources", "templates"], olderThanMs: LOOK_AGAIN_MS });
    const found = this.#known(seen, uri);
    if (found !== null) return [found];
    return this.#withResources(seen).map((source) => ({ source, uri }));
  }

  /** Remembers the resources that a server's result links or holds. */
  note(source: string, result: unknown): void {
    const content = isJsonObject(result) ? result["content"] : undefined;
    if (!Array.isArray(content)) return;
    for (const item of content) {
      const uri = isJsonObject(item) ? linkedUri(item) : null;
      if (uri !== null) this.#remember(uri, source);
    }
  }

  #known(seen: Seen, uri: string): Place | null {
    const { resources, templates } = this.#deployment.catalogue(seen);
    const serving = this.#deployment.serving();
    const prefixed = serving.find(({ name }) => uri.startsWith(serverPrefix(name)));
    if (prefixed !== undefined) return { source: prefixed.name, uri: uri.slice(serverPrefix(prefixed.name).length) };
    const listed = resources.byUri.get(uri) ?? templates.byUri.get(uri);
    const source = listed?.source ?? templates.entries.find((entry) => matchesTemplate(entry.uri, uri))?.source ?? this.#linked.get(uri);
    return source === undefined ? null : { source, uri };
  }

  #withResources({ era }: Seen): string[] {
    const mayHave = this.#deployment.serving().filter(({ mcp }) => {
      const said = mcp.greetingFor(era);
      return said === null || said.capabilities["resources"] !== undefined;
    });
    return mayHave.map(({ name }) => name);
  }

  #remember(uri: string, source: string): void {
    this.#linked.delete(uri);
    this.#linked.set(uri, source);
    const [oldest] = this.#linked.keys();
    if (this.#linked.size > MAX_LINKED && oldest !== undefined) this.#linked.delete(oldest);
  }
}

function linkedUri(item: JsonObject): string | null {
  const resource = item["type"] === "resource_link" ? item : item["type"] === "resource" ? item["resource"] : null;
  const uri = isJsonObject(resource) ? resource["uri"] : undefined;
  return typeof uri === "string" ? uri : null;
}
