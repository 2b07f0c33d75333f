import { randomUUID } from "node:crypto";
import { basename, dirname } from "node:path";
import { blobKey, DockerImageRecord, objectUrl } from "@agent-env/protocol";
import { imageRepository, sha256Hex } from "../../build-service/src/bundle/ids.ts";
import type { DeployableEnv, DeployableServer, DeployContext, DeployOptions } from "../../build-service/src/deploy/deployment.ts";
import { stateLabel } from "../../build-service/src/deploy/labels.ts";
import { connectEngine, engineProblem } from "../../build-service/src/images/engine.ts";
import { sourceOf } from "../../build-service/src/infra/image-source.ts";
import { NO_PLUGINS } from "../../build-service/src/plugins/installed.ts";
import { localProvider } from "../../build-service/src/providers/sandbox/local/provider.ts";
import type { StageEvent } from "../../build-service/src/report/events.ts";
import { openLocalStore } from "../../build-service/src/store/local.ts";
import { newRunId } from "../../build-service/src/store/run-lock.ts";
import type { Store } from "../../build-service/src/store/store.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

/** Why this tier can't run here; undefined when it can. */
export const noEngine: string | undefined = (await engineProblem())?.why;

export const docker = connectEngine();

/** A store of its own, and all that deploying needs. `events` holds what was said. Removed with `await using`. */
export async function testBed(): Promise<DeployContext & { readonly events: StageEvent[]; abort(reason: Error): void } & AsyncDisposable> {
  const folder = temporaryFolder();
  const store = await openLocalStore(folder.path, "write");
  const events: StageEvent[] = [];
  const abort = new AbortController();
  return {
    store,
    stateDir: folder.path,
    events,
    emit: (event) => events.push(event),
    signal: abort.signal,
    abort: (reason) => abort.abort(reason),
    edgeUrl: "http://localhost:8787",
    plugins: NO_PLUGINS,
    gatewayEnvId: "default",
    gatewaySettings: {},
    [Symbol.asyncDispose]: async () => {
      // What a failed test left.
      const left = noEngine === undefined ? await localProvider.labelled({ stateDir: folder.path }) : [];
      const own = left.filter(({ state }) => state === stateLabel(folder.path)).map(({ deploymentId }) => deploymentId);
      for (const id of new Set(own)) await localProvider.remove(id, { stateDir: folder.path, emit: () => {} });
      await store.close();
      folder[Symbol.dispose]();
    },
  };
}

/** An image record of a context in the store, as a bundle writes it. Nothing is built. */
export async function storedImage(
  store: Store,
  files: Readonly<Record<string, string>>,
  id = `test/${randomUUID()}`,
): Promise<DockerImageRecord> {
  const source = sourceOf(new Map(Object.entries(files)));
  const tar = await source.tar();
  const key = blobKey(sha256Hex(tar));
  await store.local.objects.create(key, tar);
  return DockerImageRecord.parse({
    id,
    version: 1,
    type: "docker_image",
    image_name: `${imageRepository(id)}:${source.digest.slice(0, 16)}`,
    dockerfile_path: source.dockerfile,
    platform: null,
    source_digest: source.digest,
    build_context_object_url: objectUrl(key),
  });
}

/** An MCP server of our SDK with one tool, `<name>_whoami`, which tells the caller's role. `extra` goes before it serves. */
export function serverFiles(name: string, extra = ""): Record<string, string> {
  return {
    Dockerfile: 'FROM agent-env/sdk:0.1.0\nCOPY . .\nCMD ["node", "server.ts"]\n',
    "server.ts": `import { environmentCard, McpEnvironment } from "@agent-env/sdk";
const env = new McpEnvironment(environmentCard({ name: ${JSON.stringify(name)} }));
env.tool("{environment_name}_whoami", { description: "Tells the caller's role.", run: (_args, { caller }) => caller.role });
${extra}
await env.serve();
`,
  };
}

/** A site of our SDK with one page, whose front end passes everything on. */
export async function website(store: Store, name: string): Promise<DeployableServer> {
  const backend = {
    Dockerfile: 'FROM agent-env/sdk:0.1.0\nCOPY . .\nCMD ["node", "server.ts"]\n',
    "server.ts": `import { environmentCard, html, WebsiteEnvironment } from "@agent-env/sdk";
const site = new WebsiteEnvironment(environmentCard({ name: ${JSON.stringify(name)} }));
site.page("/", () => html\`<h1>Welcome to ${name}</h1>\`);
await site.serve();
`,
  };
  const frontend = { Dockerfile: 'FROM agent-env/sdk:0.1.0\nCMD ["agent-env-front-end"]\n' };
  return {
    kind: "website",
    name,
    backend: { key: "backend_image", record: await storedImage(store, backend, `test/${name}__backend_image`) },
    frontend: { key: "frontend_image", record: await storedImage(store, frontend, `test/${name}__frontend_image`) },
  };
}

export function envOf(servers: readonly DeployableServer[], provider: DeployableEnv["provider"] = "gateway"): DeployableEnv {
  const type = servers.length === 1 ? "mcp_server" : "multi";
  return { id: "test/env", version: 1, type, shape: type, provider, name: null, servers };
}

export async function mcpServer(store: Store, name: string, files = serverFiles(name)): Promise<DeployableServer> {
  return { kind: "mcp", name, image: { key: "image", record: await storedImage(store, files, `test/${name}__env_image`) } };
}

export function deployOptions(env: DeployableEnv, changes: Partial<DeployOptions> = {}): DeployOptions {
  return {
    env,
    sandbox: "local",
    gateway: "container",
    owner: newRunId(new Date()),
    ttlSeconds: 600,
    cpu: null,
    memoryMb: changes.sandbox === "process" ? null : 512,
    gatewayMode: "performance",
    auth: "open",
    metadata: {},
    ...changes,
  };
}

/** Names of everything on the Engine that carries a deployment's label. */
export async function labelledNames(deploymentId: string): Promise<string[]> {
  const filters = { label: [`agent-env.deployment=${deploymentId}`] };
  const [containers, networks, volumes] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
    docker.listVolumes({ filters }),
  ]);
  return [
    ...containers.flatMap(({ Names }) => Names),
    ...networks.map(({ Name }) => Name),
    ...(volumes.Volumes ?? []).map(({ Name }) => Name),
  ];
}

/** Removes what was built from the bundle in a temporary folder of the test's own. */
export async function removeImagesOf(bundle: string): Promise<void> {
  const built = `${basename(dirname(bundle))}-${basename(bundle)}-`.toLowerCase();
  for (const { Id, RepoTags } of await docker.listImages()) {
    if (RepoTags?.some((tag) => tag.includes(built))) await docker.getImage(Id).remove({ force: true });
  }
}
