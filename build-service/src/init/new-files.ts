import type { Bundle } from "../bundle/bundle.ts";
import { sdkVersion } from "../infra/sdk-files.ts";
import type { Place } from "./find-place.ts";
import type { InitKind } from "./kinds.ts";
import { fromTemplate, type NewFile } from "./template.ts";

/** The server that a new bundle starts with. */
const FIRST_SERVER = "items";

/** What is written for something new, in a bundle that is there or in a new one. */
export async function newFiles(kind: InitKind, name: string, { bundle }: Place): Promise<readonly NewFile[]> {
  const words = { name, sdk: await sdkVersion() };
  const files = filesOf(kind, words, bundle);
  return bundle === null ? [...fromTemplate("readme", words), ...files] : files;
}

type Words = { readonly name: string; readonly sdk: string };

function filesOf(kind: InitKind, words: Words, bundle: Bundle | null): NewFile[] {
  switch (kind) {
    case "bundle":
      return fromTemplate("mcp-server", { ...words, name: FIRST_SERVER });
    case "multi":
      return multi(words, bundle);
    case "task":
      return task(words, bundle);
    case "eval":
      return evaluation(words, bundle);
    default:
      return fromTemplate(kind, words);
  }
}

/** Over the bundle's servers; where it has none, over two new ones. */
function multi(words: Words, bundle: Bundle | null): NewFile[] {
  const servers = named(bundle, "env", "mcp_server");
  const sites = named(bundle, "env", "website");
  const hasNone = servers.length === 0 && sites.length === 0;
  const server = { ...words, name: `${words.name}-items` };
  const site = { ...words, name: `${words.name}-site` };
  const lists = hasNone ? { servers: [server.name], sites: [site.name] } : { servers, sites };
  return [
    ...fromTemplate("multi", { ...words, mcp_server_envs: list(lists.servers), website_envs: list(lists.sites) }),
    ...(hasNone ? [...fromTemplate("mcp-server", server), ...fromTemplate("website", site)].filter(isOfEnv) : []),
    ...fromTemplate("task", { ...words, env: words.name }),
  ];
}

/** For the bundle's first env; where it has none, with a new MCP server. */
function task(words: Words, bundle: Bundle | null): NewFile[] {
  const env = bundle?.entries.find(({ kind }) => kind === "env");
  return env === undefined ? fromTemplate("mcp-server", words) : fromTemplate("task", { ...words, env: env.name });
}

/** Of all the bundle's tasks; where it has none, of a new one. */
function evaluation(words: Words, bundle: Bundle | null): NewFile[] {
  const tasks = named(bundle, "task", "task");
  const hasNone = tasks.length === 0;
  return [...fromTemplate("eval", { ...words, tasks: list(hasNone ? [words.name] : tasks) }), ...(hasNone ? task(words, bundle) : [])];
}

function named(bundle: Bundle | null, kind: string, type: string): string[] {
  return bundle?.entries.filter((entry) => entry.kind === kind && entry.type === type).map(({ name }) => name) ?? [];
}

function isOfEnv({ path }: NewFile): boolean {
  return path.startsWith("envs/");
}

/** A TOML list of strings. */
function list(names: readonly string[]): string {
  return `[${names.map((name) => JSON.stringify(name)).join(", ")}]`;
}
