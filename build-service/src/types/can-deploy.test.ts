import { describe, expect, test } from "vitest";
import { ENV_PROVIDERS } from "../providers/capabilities.ts";
import { canDeploy, type EnvToDeploy, type NamedServer } from "./can-deploy.ts";

const mcp = (name: string, field: string | null = null): NamedServer => ({ kind: "mcp", name, field });
const website = (name: string, field: string | null = null): NamedServer => ({ kind: "website", name, field });
const { gateway, server } = ENV_PROVIDERS;
const oneCard = { ...gateway, name: "cloud", reservesNames: false, oneCard: true };

describe("B6 whether a provider deploys an env is one rule", () => {
  test.each<[string, EnvToDeploy]>([
    ["an MCP server behind the gateway", { provider: gateway, type: "mcp_server", shape: "mcp_server", servers: [mcp("items")] }],
    ["an MCP server and a site of one name", { provider: gateway, type: "multi", shape: "multi", servers: [mcp("shop"), website("shop")] }],
    ["a plugin's type, by what its servers are", { provider: server, type: "robot", shape: "mcp_server", servers: [mcp("arm")] }],
    ["a type that a provider names itself", { provider: { ...server, types: ["robot"] }, type: "robot", shape: "mcp_server", servers: [] }],
    [
      "an MCP server without a gateway, whatever its name",
      { provider: server, type: "mcp_server", shape: "mcp_server", servers: [mcp("gateway")] },
    ],
    [
      "a site that looks like another's half without the site",
      { provider: gateway, type: "mcp_server", shape: "mcp_server", servers: [mcp("shop-website-backend")] },
    ],
  ])("%s can be", (_name, env) => {
    expect(canDeploy(env)).toBeNull();
  });

  test.each<[string, EnvToDeploy, string]>([
    [
      "a website on a provider of MCP servers",
      { provider: server, type: "website", shape: "website", servers: [website("shop")] },
      'the provider "server" deploys one MCP server only, and this is of type website',
    ],
    [
      "a type that the provider doesn't know",
      { provider: { ...gateway, name: "cloud", types: ["website", "multi"] }, type: "desktop", shape: "mcp_server", servers: [] },
      'the provider "cloud" deploys website, multi, and this is of type desktop',
    ],
    [
      "a reserved name",
      { provider: gateway, type: "multi", shape: "multi", servers: [mcp("a"), website("servicedb")] },
      '"servicedb" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
    ],
    [
      "a server that is named as half of a site is",
      {
        provider: gateway,
        type: "multi",
        shape: "multi",
        servers: [mcp("SHOP-website-backend", "mcp_server_envs[0]"), website("shop", "website_envs[0]")],
      },
      '"shop" would be the container "shop-website-backend", as "SHOP-website-backend" of mcp_server_envs[0] is: give one of them another name',
    ],
    [
      "one name for both kinds where a multi has one card",
      { provider: oneCard, type: "multi", shape: "multi", servers: [mcp("shop"), website("shop")] },
      'on the provider "cloud" a multi has one card, so no MCP server and website may share a name: "shop"',
    ],
    [
      "a name that is no host name",
      { provider: gateway, type: "mcp_server", shape: "mcp_server", servers: [mcp("..")] },
      "\"..\" can't be a server's name: it would be read as a folder",
    ],
  ])("%s can't be", (_name, env, reason) => {
    expect(canDeploy(env)).toBe(reason);
  });
});
