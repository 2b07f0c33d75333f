import type Docker from "dockerode";
import { labelsOf } from "../../../deploy/labels.ts";
import { dockerfileFacts } from "../../../images/bases.ts";
import { ask, connectEngine, engineMessage, engineProblem, engineStatus } from "../../../images/engine.ts";
import { imageBuilder } from "../../../infra/builder.ts";
import { SANDBOXES } from "../../capabilities.ts";
import { NoRoom, type SandboxProvider, type SessionSpec } from "../provider.ts";
import { networkName } from "./container-spec.ts";
import { PortPool } from "./ports.ts";
import { labelledThings, removeThings } from "./removal.ts";
import { LocalSession } from "./session.ts";

const ports = new PortPool();

/** Containers on the Docker Engine of this machine. */
export const localProvider: SandboxProvider = {
  capabilities: SANDBOXES.local,
  unavailable: engineProblem,
  async imageProblems({ dockerfile, entries }) {
    const file = (await entries()).find(({ path }) => path === dockerfile);
    if (file?.kind !== "file") throw new Error(`the context of an image lacks its own ${dockerfile}`);
    const { needsBuildKit } = dockerfileFacts(new TextDecoder().decode(file.bytes()));
    return needsBuildKit.map((reason) => `${dockerfile}: ${reason}, and the Engine's classic builder is used`);
  },
  async open(spec, context) {
    const docker = connectEngine();
    await makeNetwork(docker, spec, context.stateDir);
    return new LocalSession(spec, context, { docker, builder: imageBuilder(), ports });
  },
  async labelled() {
    return (await engineProblem()) === null ? labelledThings(connectEngine()) : [];
  },
  remove: (deploymentId, { emit }) => removeThings(connectEngine(), deploymentId, emit),
};

/** Throws `NoRoom` when the Engine has no address pool left for one more network. */
async function makeNetwork(docker: Docker, spec: SessionSpec, stateDir: string): Promise<void> {
  const options = { Name: networkName(spec.deploymentId), Driver: "bridge", CheckDuplicate: true, Labels: labelsOf(spec, stateDir) };
  await ask("make a network", docker.createNetwork(options).catch(noRoomOr));
}

/** Throws `NoRoom` for what only its sentence tells from other faults of the Engine, which has no code for it; else the error itself. */
export function noRoomOr(error: unknown): never {
  if (engineStatus(error) === null || !/address pool/i.test(engineMessage(error))) throw error;
  throw new NoRoom(
    {
      what: "the Docker Engine has no addresses left for one more network",
      why: engineMessage(error),
      next: "`agent-env gc`, `agent-env env stop <id>`, or `docker network prune` for networks that are not ours",
    },
    { cause: error },
  );
}
