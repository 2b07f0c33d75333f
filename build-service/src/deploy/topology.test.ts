import { DeployedServer, type DockerImageRecord } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import type { Address } from "../providers/sandbox/provider.ts";
import type { DeployableEnv } from "./deployment.ts";
import { deployedServers, gatewayService, gatewayVariables, serverServices, serverVariables, siteLabel, waves } from "./topology.ts";

const env = shopAndItems();
const services = [...serverServices(env, false), gatewayService(null)];
const addresses = new Map<string, Address>(
  services.map(({ name, port }) => [
    name,
    {
      inside: `http://${name}:${port}`,
      outside: `http://127.0.0.1:2000${services.findIndex((s) => s.name === name)}`,
      listen: { host: "0.0.0.0", port },
    },
  ]),
);
const variables = (name: string) => {
  const service = services.find((candidate) => candidate.name === name);
  if (service === undefined) throw new Error(`no service ${name}`);
  return serverVariables(service, addresses);
};

describe("P4 the services of an env", () => {
  test("an MCP server is one, a site two, under the names that the original's deploys give them", () => {
    expect(services.map(({ name, role, port, published }) => [name, role, port, published])).toEqual([
      ["items", "mcp", 18765, false],
      ["shop-website-backend", "backend", 8000, false],
      ["shop-website-frontend", "frontend", 80, false],
      ["gateway", "gateway", 18765, true],
    ]);
  });

  test("servers and backends start at once, then front ends and the gateway", () => {
    expect(waves(services).map((wave) => wave.map(({ name }) => name))).toEqual([
      ["items", "shop-website-backend"],
      ["shop-website-frontend", "gateway"],
    ]);
  });

  test("behind an edge gateway every server is published", () => {
    expect(serverServices(env, true).every(({ published }) => published)).toBe(true);
  });
});

describe("P4 the variables of a service", () => {
  test("an MCP server", () => {
    expect(variables("items")).toEqual({
      MCP_HOST: "0.0.0.0",
      MCP_PORT: "18765",
      ENVIRONMENT_NAME: "items",
      SERVICE_NAME: "items",
      DATABASE_URL: "sqlite:////tmp/items.sqlite",
    });
  });

  test("a site's backend", () => {
    expect(variables("shop-website-backend")).toEqual({
      PORT: "8000",
      ENVIRONMENT_NAME: "shop",
      SERVICE_NAME: "shop",
      DATABASE_URL: "sqlite:////tmp/shop.sqlite",
      PYTHONUNBUFFERED: "1",
    });
  });

  test("a site's front end is told where its backend is", () => {
    expect(variables("shop-website-frontend")).toEqual({ PORT: "80", BACKEND_URL: "http://shop-website-backend:8000" });
  });

  test("a listener on loopback is told its host", () => {
    const onLoopback = new Map([["shop-website-backend", { inside: "", outside: "", listen: { host: "127.0.0.1", port: 4000 } }]]);
    const backend = services.find(({ role }) => role === "backend");
    expect(backend && serverVariables(backend, onLoopback)).toMatchObject({ HOST: "127.0.0.1", PORT: "4000" });
  });

  test("the gateway gets its record", () => {
    expect(gatewayVariables(addresses, { name: "env1" })).toEqual({
      MCP_HOST: "0.0.0.0",
      MCP_PORT: "18765",
      GATEWAY_RECORD: '{"name":"env1"}',
    });
  });
});

describe("the servers in a record", () => {
  test("are named with addresses as a container gateway reaches them", () => {
    const servers = deployedServers(env, addresses, "inside", "suite-abcd1234");
    expect(servers).toEqual([
      { name: "items", kind: "mcp", url: "http://items:18765", mcp_path: "/mcp" },
      {
        name: "shop",
        kind: "website",
        url: "http://shop-website-backend:8000",
        frontend_url: "http://shop-website-frontend:80",
        label: "shop--suite-abcd1234",
      },
    ]);
    expect(servers.every((server) => DeployedServer.safeParse(server).success)).toBe(true);
  });

  test("are named with published addresses for the edge", () => {
    expect(deployedServers(env, addresses, "outside", "suite-abcd1234").map(({ url }) => url)).toEqual([
      "http://127.0.0.1:20000",
      "http://127.0.0.1:20001",
    ]);
  });
});

describe("a site's host label", () => {
  const cases: [string, string, RegExp][] = [
    ["plain", "shop", /^shop--d-12345678$/],
    ["with a dot, shortened", "shop.eu", /^shopeu--d-12345678-[0-9a-f]{8}$/],
    ["with two dashes, shortened", "a--b", /^a--b--d-12345678-[0-9a-f]{8}$/],
    ["too long, shortened to 59", "s".repeat(60), /^s{50}-[0-9a-f]{8}$/],
    ["in capitals, shortened", "Shop", /^shop--d-12345678-[0-9a-f]{8}$/],
  ];
  test.each(cases)("%s", (_name, site, label) => {
    expect(siteLabel(site, "d-12345678")).toMatch(label);
  });
});

/** An image record of that id; nothing is stored. */
function imageRecord(id: string): DockerImageRecord {
  return {
    id,
    version: 1,
    type: "docker_image",
    image_name: `${id}:test`,
    dockerfile_path: "Dockerfile",
    platform: null,
    source_digest: "0".repeat(64),
    build_context_object_url: "r2:blobs/sha256/none",
    build_context_s3_url: "r2:blobs/sha256/none",
    tar_gz_object_url: null,
  };
}

/** A multi of an MCP server `items` and a site `shop`. */
function shopAndItems(): DeployableEnv {
  const image = (key: string) => ({ key, record: imageRecord(key) });
  return {
    id: "suite",
    version: 1,
    type: "multi",
    shape: "multi",
    provider: "gateway",
    name: null,
    servers: [
      { kind: "mcp", name: "items", image: image("image") },
      { kind: "website", name: "shop", backend: image("backend_image"), frontend: image("frontend_image") },
    ],
  };
}
