import { RESERVED_SERVER_NAMES, type ServerKind, serverContainers, serverNameProblem } from "@agent-env/protocol";
import { shownValue } from "../bundle/shown.ts";
import type { EnvProviderCapabilities } from "../providers/capabilities.ts";
import type { EnvType } from "./type.ts";

/** One server of an env: its name, and for a multi's child the field that names it, `website_envs[0]`. */
export type NamedServer = { readonly kind: ServerKind; readonly name: string; readonly field: string | null };

export type EnvToDeploy = {
  readonly provider: EnvProviderCapabilities;
  /** The env's type, and the one that it is deployed like. */
  readonly type: string;
  readonly shape: EnvShape;
  readonly servers: readonly NamedServer[];
};

/** The built-in type that an env's servers are those of. */
export type EnvShape = "mcp_server" | "website" | "multi";

/** What a type's envs are deployed like: a plugin's type says by its topology which servers it has. */
export function envShape({ topology }: Pick<EnvType, "topology">): EnvShape {
  if ("lists" in topology) return "multi";
  return topology.server === "mcp" ? "mcp_server" : "website";
}

/** Why a provider can't deploy an env, with the code that a bundle's problem has (4-bundle §8). */
export type DeployRefusal = {
  readonly code: "provider-cannot" | "reserved-name" | "bad-env-name" | "container-twice" | "name-shared";
  /** The server that it is about; null: the whole env. */
  readonly server: NamedServer | null;
  readonly reason: string;
};

/** Whether `provider` can deploy that env: the one rule (B6). Null if it can, else why not. */
export function canDeploy(env: EnvToDeploy): string | null {
  return deployRefusals(env)[0]?.reason ?? null;
}

/** All the reasons why `provider` can't deploy that env (4-bundle §7.4). A plan reports each, a deploy needs one. */
export function deployRefusals(env: EnvToDeploy): DeployRefusal[] {
  return [...typeRefusals(env), ...nameRefusals(env), ...containerRefusals(env), ...sharedNameRefusals(env)];
}

function typeRefusals({ provider, type, shape }: EnvToDeploy): DeployRefusal[] {
  if (provider.types.includes(type) || provider.types.includes(shape)) return [];
  const takes = provider.types.length === 1 && provider.types[0] === "mcp_server" ? "one MCP server only" : provider.types.join(", ");
  const reason = `the provider ${JSON.stringify(provider.name)} deploys ${takes}, and this is of type ${type}`;
  return [{ code: "provider-cannot", server: null, reason }];
}

function nameRefusals({ provider, servers }: EnvToDeploy): DeployRefusal[] {
  if (!provider.reservesNames) return [];
  return servers.flatMap((server): DeployRefusal[] => {
    if (isReserved(server.name)) {
      const names = RESERVED_SERVER_NAMES.join(", ");
      const reason = `${JSON.stringify(server.name)} is a name that the provider ${JSON.stringify(provider.name)} gives its own containers (${names}): choose another`;
      return [{ code: "reserved-name", server, reason }];
    }
    const problem = serverNameProblem(server);
    return problem === null
      ? []
      : [{ code: "bad-env-name", server, reason: `${shownValue(server.name)} can't be a server's name: ${problem}` }];
  });
}

function isReserved(name: string): boolean {
  return RESERVED_SERVER_NAMES.some((reserved) => reserved === name);
}

/** Two servers that would be one host on the deployment's network, where names are compared without case. */
function containerRefusals({ servers }: EnvToDeploy): DeployRefusal[] {
  const taken = new Map<string, NamedServer>();
  const refusals: DeployRefusal[] = [];
  for (const server of servers) {
    // Two sites of one name share both containers: that is one mistake.
    const told = new Set<NamedServer>();
    for (const container of serverContainers(server)) {
      const other = taken.get(container.toLowerCase());
      if (other === undefined) taken.set(container.toLowerCase(), server);
      else if (!told.has(other)) refusals.push(containerTwice(server, container, other));
      if (other !== undefined) told.add(other);
    }
  }
  return refusals;
}

function containerTwice(server: NamedServer, container: string, other: NamedServer): DeployRefusal {
  const reason = `${shownValue(server.name)} would be the container ${shownValue(container)}, as ${shownValue(other.name)} of ${other.field ?? "the env"} is: give one of them another name`;
  return { code: "container-twice", server, reason };
}

function sharedNameRefusals({ provider, servers }: EnvToDeploy): DeployRefusal[] {
  if (!provider.oneCard) return [];
  const named = (kind: ServerKind): string[] => servers.filter((server) => server.kind === kind).map(({ name }) => name);
  const sites = new Set(named("website"));
  const shared = [...new Set(named("mcp").filter((name) => sites.has(name)))].sort();
  if (shared.length === 0) return [];
  const names = shared.map(shownValue).join(", ");
  const reason = `on the provider ${JSON.stringify(provider.name)} a multi has one card, so no MCP server and website may share a name: ${names}`;
  return [{ code: "name-shared", server: null, reason }];
}
