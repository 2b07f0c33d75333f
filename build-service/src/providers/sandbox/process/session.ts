import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { DeployContext } from "../../../deploy/deployment.ts";
import { attemptOf, settled } from "../../../deploy/readiness.ts";
import { gatewayBundle } from "../../../infra/gateway-bundle.ts";
import { firstFree, type HeldPort, holdPort, PUBLISHED_PORTS } from "../ports.ts";
import type { Address, SandboxSession } from "../provider.ts";
import { layOutService, serviceEnvironment } from "./from-source.ts";
import { type Launched, launch, restartsIn } from "./launch.ts";
import { type Registration, serviceFolder, writeRegistration } from "./registration.ts";

/** One that has ended so often while it was waited for won't come up. */
const RESTARTS_OF_A_BROKEN_ONE = 3;
const LOG_TAIL_BYTES = 256 * 1024;

/** One deployment's servers as processes, each with a folder of its own below `folder`. */
export function processSession(folder: string, empty: Registration, context: DeployContext): SandboxSession {
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
      // Bundling the gateway takes a second, which the servers before it have to spare. What goes wrong is met where it is laid out.
      if (services.some(({ image }) => image === null)) gatewayBundle().catch(() => {});
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
      const laidOut = await layOutService(service, { folder: own, sandbox: "process", context });
      context.signal.throwIfAborted();
      await held.release();
      const spec = {
        ...laidOut,
        environment: serviceEnvironment(laidOut, env, held.port),
        logFile: logFile(own),
        restart: service.restart,
      };
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
