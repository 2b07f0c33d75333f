import { posix } from "node:path";
import { buffer } from "node:stream/consumers";
import { UserError } from "@agent-env/protocol";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import type { DeployContext } from "../../../deploy/deployment.ts";
import { labelsOf } from "../../../deploy/labels.ts";
import type { ImageBuilder } from "../../../images/builder.ts";
import { ask, engineMessage, engineStatus, orWhenGone } from "../../../images/engine.ts";
import { ensureBuilt } from "../../../images/ensure.ts";
import { isFree } from "../ports.ts";
import type { Address, Probe, ProbeResult, SandboxSession, Service, SessionSpec } from "../provider.ts";
import { containerName, containerSpec } from "./container-spec.ts";
import { logText } from "./log-frames.ts";
import type { PortPool } from "./ports.ts";
import { probeFromNetwork } from "./probe-container.ts";

/** How often a container whose port got taken is started on another one. */
const PORT_TRIES = 10;
/** A service that restarts on failure and has done so this often keeps failing. */
const RESTARTS_OF_A_BROKEN_ONE = 3;

export type LocalParts = { readonly docker: Docker; readonly builder: ImageBuilder; readonly ports: PortPool };

/** One deployment's containers on this machine's Engine. Its network is there when the session is made. */
export class LocalSession implements SandboxSession {
  readonly ids: readonly string[];
  readonly #spec: SessionSpec;
  readonly #context: DeployContext;
  readonly #parts: LocalParts;
  readonly #images = new Map<string, string>();
  readonly #hostPorts = new Map<string, number>();
  readonly #addresses = new Map<string, Address>();
  #gatewayImage: string | null = null;

  constructor(spec: SessionSpec, context: DeployContext, parts: LocalParts) {
    this.ids = [spec.deploymentId];
    this.#spec = spec;
    this.#context = context;
    this.#parts = parts;
  }

  /** Also sees to it that the Engine holds every image, so that the servers then start together. */
  async reserve(services: readonly Service[]): Promise<ReadonlyMap<string, Address>> {
    for (const service of services) {
      const imageId = await this.#imageOf(service);
      this.#images.set(service.name, imageId);
      if (service.role === "gateway") this.#gatewayImage = imageId;
    }
    for (const service of services) {
      if (service.published) this.#hostPorts.set(service.name, await this.#parts.ports.draw());
      this.#setAddress(service);
    }
    return this.#addresses;
  }

  async start(service: Service, env: Readonly<Record<string, string>>): Promise<void> {
    const { signal } = this.#context;
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      const hostPort = this.#hostPorts.get(service.name);
      const container = await this.#created(service, env);
      try {
        await ask(`start ${service.name}`, container.start());
        return;
      } catch (error) {
        // The Engine has no code for a taken port, and leaves the container.
        if (hostPort === undefined || tries === PORT_TRIES || (await isFree(hostPort))) throw startFailure(service, error);
        await ask(`remove ${service.name}`, orWhenGone(null, container.remove({ force: true, v: true })));
        this.#hostPorts.set(service.name, await this.#parts.ports.draw());
        this.#setAddress(service);
      } finally {
        // Held by the container from here on, or by whoever took it.
        if (hostPort !== undefined) this.#parts.ports.giveBack(hostPort);
      }
    }
  }

  async imageLabels(service: string): Promise<Readonly<Record<string, string>>> {
    const imageId = this.#images.get(service);
    if (imageId === undefined) throw new Error(`the image of ${service} is asked for before it was reserved`);
    const { Config: config } = await ask(`look at the image of ${service}`, this.#parts.docker.getImage(imageId).inspect());
    return config.Labels ?? {};
  }

  async probeInside(
    probes: readonly Probe[],
    onSettled: (result: ProbeResult) => void,
    signal: AbortSignal,
  ): Promise<readonly ProbeResult[]> {
    if (probes.length === 0) return [];
    const image = this.#gatewayImage;
    if (image === null) throw new Error("servers without a published port are probed by a gateway's image, and there is none");
    const labels = labelsOf(this.#spec, this.#context.stateDir);
    return probeFromNetwork(this.#parts.docker, { deploymentId: this.#spec.deploymentId, image, labels, probes }, onSettled, signal);
  }

  async exited(service: string): Promise<string | null> {
    const found = await ask(`look at ${service}`, orWhenGone(null, this.#container(service).inspect()));
    if (found === null) return "its container is gone";
    const { State: state, RestartCount: restarts, HostConfig: host } = found;
    const how = state.OOMKilled
      ? `ran out of its ${Math.round((host.Memory ?? 0) / 1024 / 1024)} MB of memory`
      : `exit code ${state.ExitCode}`;
    if (host.RestartPolicy?.Name === "on-failure")
      return restarts >= RESTARTS_OF_A_BROKEN_ONE ? `it was restarted ${restarts} times; ${how}` : null;
    return state.Status === "exited" || state.Status === "dead" ? `it has ended: ${how}` : null;
  }

  async logs(service: string, lines: number): Promise<string> {
    const asked = this.#container(service).logs({ stdout: true, stderr: true, tail: lines, follow: false });
    const frames = await ask(`read the log of ${service}`, orWhenGone(null, asked));
    return frames === null ? "" : logText(frames);
  }

  async placeFile(service: string, path: string, bytes: Uint8Array): Promise<boolean> {
    const container = this.#container(service);
    const tar = pack();
    // An entry for a folder that is there already would change its mode and owner.
    const folders = path.split("/").slice(1, -1);
    for (let depth = 1; depth <= folders.length; depth++) {
      const folder = folders.slice(0, depth).join("/");
      const found = await ask(`look into ${service}`, orWhenGone(null, container.infoArchive({ path: `/${folder}` })));
      if (found === null) tar.entry({ name: `${folder}/`, type: "directory", mode: 0o755 });
    }
    tar.entry({ name: posix.relative("/", path), mode: 0o644 }, Buffer.from(bytes));
    tar.finalize();
    await ask(`put ${path} into ${service}`, container.putArchive(await buffer(tar), { path: "/" }));
    return true;
  }

  #created(service: Service, env: Readonly<Record<string, string>>): Promise<Docker.Container> {
    const imageId = this.#images.get(service.name);
    if (imageId === undefined) throw new Error(`${service.name} is started before it was reserved`);
    const spec = containerSpec({
      deploymentId: this.#spec.deploymentId,
      service,
      imageId,
      env,
      labels: labelsOf(this.#spec, this.#context.stateDir),
      limits: this.#spec,
      hostPort: this.#hostPorts.get(service.name) ?? null,
    });
    return ask(`make the container of ${service.name}`, this.#parts.docker.createContainer(spec));
  }

  async #imageOf({ name, image }: Service): Promise<string> {
    if (image === null) throw new Error(`${name} has no image, and containers need one`);
    const { store, emit, signal } = this.#context;
    const { builder } = this.#parts;
    return (await ensureBuilt({ store, record: image, entry: image.id, builder, emit, signal })).engineImageId;
  }

  #setAddress({ name, port }: Service): void {
    const hostPort = this.#hostPorts.get(name);
    this.#addresses.set(name, {
      inside: `http://${name}:${port}`,
      outside: hostPort === undefined ? null : `http://127.0.0.1:${hostPort}`,
      listen: { host: "0.0.0.0", port },
    });
  }

  #container(service: string): Docker.Container {
    return this.#parts.docker.getContainer(containerName(this.#spec.deploymentId, service));
  }
}

/** A start that the image or the machine made impossible: its command isn't in it, a limit can't be set. */
function startFailure(service: Service, error: unknown): unknown {
  const status = engineStatus(error);
  if (error instanceof UserError || status === null) return error;
  return new UserError(
    {
      what: `${service.name}: its container does not start`,
      why: engineMessage(error),
      next: "mend its image's start command, then deploy again",
    },
    { cause: error },
  );
}
