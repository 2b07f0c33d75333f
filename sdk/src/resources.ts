import { UserError } from "@agent-env/protocol";

export type ResourceDefinition = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Text as it is, bytes as base64, any other value as JSON. */
  readonly read: () => unknown;
};

/** A resource as `resources/list` shows it. */
export type ListedResource = Omit<ResourceDefinition, "read"> & { readonly uri: string };
export type ResourceContents = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);

/** The resources of one environment, each under a fixed URI. */
export class Resources {
  readonly #resources = new Map<string, ResourceDefinition>();

  get size(): number {
    return this.#resources.size;
  }

  add(uri: string, definition: ResourceDefinition): void {
    if (!URL.canParse(uri)) {
      throw new UserError({
        what: `resource ${JSON.stringify(uri)} has no URI`,
        why: "clients read a resource by an absolute URI",
        next: 'write one with a scheme, for example "items://all"',
      });
    }
    if (this.#resources.has(uri)) {
      throw new UserError({
        what: `resource ${JSON.stringify(uri)} is there twice`,
        why: "each URI names one resource",
        next: "change one of them",
      });
    }
    this.#resources.set(uri, definition);
  }

  list(): ListedResource[] {
    return [...this.#resources].map(([uri, { read: _read, ...listed }]) => ({ uri, ...listed }));
  }

  /** Undefined if there is no such resource. */
  async read(uri: string): Promise<ResourceContents | undefined> {
    const resource = this.#resources.get(uri);
    if (resource === undefined) return undefined;
    const value = await resource.read();
    if (value instanceof Uint8Array) return { ...head(uri, resource.mimeType), blob: Buffer.from(value).toString("base64") };
    if (typeof value === "string") return { ...head(uri, resource.mimeType), text: value };
    return { ...head(uri, resource.mimeType ?? "application/json"), text: JSON.stringify(value) };
  }
}

const head = (uri: string, mimeType: string | undefined) => ({ uri, ...(mimeType === undefined ? {} : { mimeType }) });
