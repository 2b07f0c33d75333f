import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { objectKey, UserError } from "@agent-env/protocol";
import type { DeployContext } from "../../../deploy/deployment.ts";
import { attemptOf, settled } from "../../../deploy/readiness.ts";
import { readContext } from "../../../images/stored-context.ts";
import { WRITE_IMAGE_ANEW } from "../../../images/write-anew.ts";
import { gatewayBundle } from "../../../infra/gateway-bundle.ts";
import { sdkBaseFiles } from "../../../infra/sdk-files.ts";
import { firstFree, type HeldPort, holdPort, PUBLISHED_PORTS } from "../ports.ts";
import type { Address, SandboxSession, Service } from "../provider.ts";
import { planImage } from "./image-plan.ts";
import { type Launched, launch, restartsIn } from "./launch.ts";
import { type LaidOut, layOut } from "./layout.ts";
import type { Machine } from "./machine.ts";
import { type Registration, serviceFolder, writeRegistration } from "./registration.ts";

/** One that has ended so often while it was waited for won't come up. */
const RESTARTS_OF_A_BROKEN_ONE = 3;
const LOG_TAIL_BYTES = 256 * 1024;

/** One deployment's servers as processes, each with a folder of its own below `folder`. */
export function processSession(folder: string, empty: Registration, machine: Machine, context: DeployContext): SandboxSession {
  const ports = new Map<string, HeldPort>();
  const launched = new Map<string, Launched>();
  let registration = empty;
  let written: Promise<void> = Promise.resolve();

  /** Servers start at once, and the file must show all that have: one write after the other. */
  function register(process: Registration["processes"][number]): Promise<void> {
    registration = { ...registration, processes: [...registration.processes, process] };
    written = written.then(() => writeRegistration(folder, registration));
    return written;
  }

  return {
    ids: [empty.deployment],

    async reserve(services) {
      const addresses = new Map<string, Address>();
      for (const { name } of services) {
        const held = await firstFree(PUBLISHED_PORTS, holdPort);
        ports.set(name, held);
        const url = `http://127.0.0.1:${held.port}`;
        addresses.set(name, { inside: url, outside: url, listen: { host: "127.0.0.1", port: held.port } });
      }
      return addresses;
    },

    async start(service, env) {
      const held = ports.get(service.name);
      if (held === undefined) throw new Error(`${service.name} is started without a reserved port`);
      const own = serviceFolder(folder, service.name);
      await mkdir(own, { recursive: true, mode: 0o700 });
      const laidOut = service.image === null ? await layOutGateway(own, machine) : await layOutImage(service, own);
      context.signal.throwIfAborted();
      await held.release();
      const spec = { ...laidOut, environment: serverEnvironment(laidOut, env, held.port), logFile: logFile(own), restart: service.restart };
      const registered = (pid: number, started: string): Promise<void> =>
        register({ service: service.name, pid, started, folder: laidOut.root });
      launched.set(service.name, await launch(spec, registered));
    },

    // One loopback serves them all: what is inside is outside too.
    probeInside: (probes, onSettled, signal) =>
      Promise.all(
        probes.map(async (probe) => {
          const result = await settled({ ...probe, attempt: attemptOf(probe) }, signal);
          onSettled(result);
          return result;
        }),
      ),

    async exited(service) {
      const ended = launched.get(service)?.exited() ?? null;
      if (ended !== null) return ended;
      const restarts = restartsIn(await logEnd(logFile(serviceFolder(folder, service))));
      return restarts.length >= RESTARTS_OF_A_BROKEN_ONE ? `it was restarted ${restarts.length} times; exit code ${restarts.at(-1)}` : null;
    },

    async logs(service, lines) {
      const end = await logEnd(logFile(serviceFolder(folder, service)));
      return end.trimEnd().split("\n").slice(-lines).join("\n");
    },

    // A path that a server is told must be one of this machine, and the caller's is one of the image.
    async placeFile() {
      return false;
    },
  };

  async function layOutImage(service: Service, own: string): Promise<LaidOut> {
    const image = service.image;
    if (image === null) throw new Error(`${service.name} has no image`);
    const entries = async () => {
      const stored = await context.store.of(image.id).objects.get(objectKey(image.build_context_object_url));
      if (stored !== null) return readContext(stored.bytes);
      throw new UserError({
        what: `${image.id} v${image.version}: its build context ${image.build_context_object_url} isn't in the store`,
        why: "sandbox process runs an image from that context",
        next: WRITE_IMAGE_ANEW,
      });
    };
    const plan = await planImage({ dockerfile: image.dockerfile_path, entries }, machine, sdkBaseFiles);
    const [first] = plan.problems;
    if (first !== undefined) {
      throw new UserError({
        what: `${image.id} v${image.version}: ${first}`,
        why: plan.problems.length === 1 ? "sandbox process runs an image without building it" : plan.problems.slice(1).join("\n"),
        next: "--sandbox local, which builds it with Docker",
      });
    }
    for (const note of plan.notes) context.emit({ kind: "log", entry: service.name, level: "info", message: note });
    return await layOut(plan, own, machine);
  }
}

async function layOutGateway(own: string, machine: Machine): Promise<LaidOut> {
  const root = join(own, "root");
  await mkdir(root, { recursive: true });
  const program = join(root, "gateway.mjs");
  await writeFile(program, await gatewayBundle());
  // What it must not lose when it is started again.
  const state = join(root, "gateway.sqlite");
  const environment = { PATH: machine.path, HOME: root, GATEWAY_STATE_FILE: state };
  return { root, argv: [machine.node, program], workingFolder: root, environment };
}

/** The image's variables, the deployment's over them, and over both what a process needs to be told otherwise (5-run §5.6). */
function serverEnvironment(laidOut: LaidOut, env: Readonly<Record<string, string>>, port: number): Record<string, string> {
  const database = env["DATABASE_URL"]?.replace(/^sqlite:\/\/\/(?=\/)/, `sqlite:///${laidOut.root}`);
  return {
    ...laidOut.environment,
    ...env,
    ...(database === undefined ? {} : { DATABASE_URL: database }),
    HOST: "127.0.0.1",
    PORT: String(port),
    MCP_HOST: "127.0.0.1",
    MCP_PORT: String(port),
    PATH: laidOut.environment["PATH"] ?? "",
    HOME: laidOut.root,
  };
}

function logFile(own: string): string {
  return join(own, "output.log");
}

/** The last part of a log, which may begin in the middle of a line; empty where there is none. */
async function logEnd(path: string): Promise<string> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - LOG_TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await file.close();
  }
}
