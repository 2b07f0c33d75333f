import { readFileSync } from "node:fs";
import { isJsonObject, type JsonObject, jsonOf } from "@agent-env/protocol";
import type Docker from "dockerode";
import { expect } from "vitest";
import type { DeployableServer } from "../../build-service/src/deploy/deployment.ts";
import { containerName } from "../../build-service/src/providers/sandbox/local/container-spec.ts";
import { probeFromNetwork } from "../../build-service/src/providers/sandbox/local/probe-container.ts";
import type { Store } from "../../build-service/src/store/store.ts";
import { agentEnv } from "../fixtures/agent-env.ts";
import type { Driver } from "../fixtures/interop/driver.ts";
import { keptRun } from "../fixtures/kept-run.ts";
import { until } from "../fixtures/until.ts";
import { docker, storedImage } from "./support.ts";

/** A start that takes longer hangs. */
export const READY_MS = 60_000;

/** A deployment in containers: where its gateway answers, and its containers by their services' names. */
export type Deployed = { readonly base: string; readonly id: string; container(service: string): Docker.Container };

export function deployed(id: string, base: string): Deployed {
  return { base, id, container: (service) => docker.getContainer(containerName(id, service)) };
}

/** A deployment on its way. `stop` may be called before it is up. */
export type Starting = { readonly up: Promise<Deployed>; stop(): Promise<void> };

/** The multi of `examples/suite`, seeded, verified and kept up by `agent-env run`. `env` is what its operator has set. */
export function startSuite(env: Record<string, string>): Starting {
  const cli = agentEnv(env);
  const run = keptRun(cli, "examples/suite", "--task", "suite");
  return {
    up: run.up.then(({ id, base }) => deployed(id, base)),
    async stop() {
      await run.stop();
      cli.remove();
    },
  };
}

/** The shop of `examples/suite`, whose backend does something `before` it listens. */
export async function shopSite(store: Store, before = "true"): Promise<DeployableServer> {
  const source = (file: string): string => readFileSync(new URL(`../../examples/suite/envs/shop/${file}`, import.meta.url), "utf8");
  const command = JSON.stringify(["sh", "-c", `${before}; exec node server.ts`]);
  const backend = {
    Dockerfile: `FROM agent-env/sdk:0.1.0\nCOPY . .\nCMD ${command}\n`,
    "shop.ts": source("shop.ts"),
    "server.ts": source("server.ts"),
  };
  const frontend = { Dockerfile: source("Dockerfile.frontend") };
  return {
    kind: "website",
    name: "shop",
    backend: { key: "backend_image", record: await storedImage(store, backend, "test/shop__backend_image") },
    frontend: { key: "frontend_image", record: await storedImage(store, frontend, "test/shop__frontend_image") },
  };
}

export type Health = { readonly status: number; readonly body: unknown };

/** What the gateway says of itself. Rejects while it doesn't listen. */
export async function healthOf({ base }: Deployed): Promise<Health> {
  const answer = await fetch(`${base}/health`);
  return { status: answer.status, body: await answer.json() };
}

/**
 * Watches from inside the deployment's network until a site answers with its card. `answered` resolves then; what watches is gone
 * when this is disposed of.
 */
export async function watchSite(
  { id, container }: Deployed,
  site: string,
): Promise<{ readonly answered: Promise<void> } & AsyncDisposable> {
  const gateway = await container("gateway").inspect();
  const answered = Promise.withResolvers<void>();
  const stop = new AbortController();
  const url = `http://${site}-website-backend:8000/.well-known/agent-env.json`;
  const watching = probeFromNetwork(
    docker,
    {
      deploymentId: id,
      image: gateway.Image,
      labels: gateway.Config.Labels,
      probes: [{ name: site, kind: "http", url, budgetSeconds: 120 }],
    },
    ({ ok, reason }) => (ok ? answered.resolve() : answered.reject(new Error(`${site} doesn't answer: ${reason}`))),
    stop.signal,
  );
  watching.catch((error) => answered.reject(error));
  // Told to whoever waits for it, if anybody does.
  answered.promise.catch(() => undefined);
  return {
    answered: answered.promise,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await watching.catch(() => undefined);
    },
  };
}

/** Ends a container and starts it again: it is told to end, or it is killed. */
export async function renew(container: Docker.Container, how: "restart" | "kill"): Promise<void> {
  if (how === "restart") return await container.restart({ t: 10 });
  await container.kill();
  await container.start();
}

/** The data of a server behind the gateway, as `data/get` gives it. */
export async function dataOf({ base }: Deployed, key: string): Promise<JsonObject> {
  const answer = await posted(`${base}/svc/${key}/agentenv`, { jsonrpc: "2.0", id: 1, method: "data/get", params: {} });
  const reply: unknown = await answer.json();
  const result = isJsonObject(reply) ? reply["result"] : undefined;
  const [part] = isJsonObject(result) && Array.isArray(result["parts"]) ? result["parts"] : [];
  if (!isJsonObject(part) || !isJsonObject(part["data"])) throw new Error(`no data of ${key}: ${JSON.stringify(reply)}`);
  return part["data"];
}

/** Empties all servers, once they are there: an earlier test may have left them on their way up. */
export async function resetAll({ base }: Deployed): Promise<void> {
  await until("all servers are empty", READY_MS, async () => {
    const answer = await posted(`${base}/agentenv`, { jsonrpc: "2.0", id: 1, method: "data/reset", params: {} });
    const text = await answer.text();
    if (!isJsonObject(field(jsonOf(text), "result"))) throw new Error(`HTTP ${answer.status}: ${text}`);
    return true;
  });
}

export function posted(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return fetch(url, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
}

const AT_ONCE = 30;
let calls = 0;

/** What a burst's calls change: the tool that is called with a number, what it answers, and the numbers that are in the data after. */
type Changed = {
  readonly tool: string;
  readonly key: string;
  args(n: number): Record<string, unknown>;
  answer(n: number): object;
  numbers(data: JsonObject): unknown[];
};

const listIn = (data: JsonObject, key: string): unknown[] => (Array.isArray(data[key]) ? data[key] : []);
const field = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);

export const SHOP: Changed = {
  tool: "place_order",
  key: "shop",
  args: (quantity) => ({ product: "tea", quantity }),
  answer: (quantity) => ({ structuredContent: { product: "tea", quantity } }),
  numbers: (data) => listIn(data, "orders").map((order) => field(order, "quantity")),
};
export const ITEMS: Changed = {
  tool: "items_add",
  key: "mcp-items",
  args: (n) => ({ title: `number ${n}` }),
  answer: (n) => ({ content: [{ type: "text", text: `added number ${n}` }] }),
  numbers: (data) => listIn(data, "items").map((item) => Number(String(field(item, "title")).slice("number ".length))),
};

/** Calls a tool 30 times at once, each client in turn. All succeed, each with its own answer, and each has run once. */
export async function wholeBurst(at: Deployed, clients: readonly Driver[], { tool, key, args, answer, numbers }: Changed): Promise<void> {
  const all = Array.from({ length: AT_ONCE }, () => ++calls);
  const answers = await Promise.all(all.map((n, turn) => clients[turn % clients.length]?.call(tool, args(n))));
  expect(answers).toMatchObject(all.map(answer));
  const found = numbers(await dataOf(at, key)).filter((n) => all.includes(Number(n)));
  expect(found.toSorted((a, b) => Number(a) - Number(b))).toEqual(all);
}
