import { rm } from "node:fs/promises";
import type { LeftUp } from "../../../deploy/deployment.ts";
import { stateLabel } from "../../../deploy/labels.ts";
import { sdkBaseFiles } from "../../../infra/sdk-files.ts";
import { SANDBOXES } from "../../capabilities.ts";
import type { Labelled, SandboxProvider } from "../provider.ts";
import { endGroup, ownMembers } from "./end-group.ts";
import { planImage } from "./image-plan.ts";
import { thisMachine } from "./machine.ts";
import { allRegistrations, deploymentFolder, type Registration, readRegistration, writeRegistration } from "./registration.ts";
import { processSession } from "./session.ts";
import { endStrays } from "./strays.ts";

/** Servers as processes of this machine, run from their images' sources (P3, 5-run §5.6). It isolates nothing. */
export const processProvider: SandboxProvider = {
  capabilities: SANDBOXES.process,

  async unavailable() {
    if (process.platform !== "win32") return null;
    return { why: "process groups and /bin/sh are needed, which Windows hasn't", next: "use --sandbox local" };
  },

  async imageProblems(image) {
    return (await planImage(image, await thisMachine(), sdkBaseFiles)).problems;
  },

  async open(spec, context) {
    const folder = deploymentFolder(context.stateDir, spec.deploymentId);
    const registration: Registration = {
      format_version: 1,
      deployment: spec.deploymentId,
      owner: spec.owner,
      expires: spec.expiresAt,
      state: stateLabel(context.stateDir),
      processes: [],
    };
    await writeRegistration(folder, registration);
    context.emit({
      kind: "log",
      entry: spec.deploymentId,
      level: "warning",
      message: "sandbox process isolates nothing: the servers run as you, with your files and your network",
    });
    return processSession(folder, registration, context);
  },

  async labelled({ stateDir }) {
    const found = await allRegistrations(stateDir);
    return (await Promise.all(found.map(({ folder, registration }) => labelledBy(folder, registration)))).flat();
  },

  async remove(deploymentId, { stateDir, emit }) {
    const folder = deploymentFolder(stateDir, deploymentId);
    const registration = await readRegistration(folder);
    const processes = registration?.processes ?? [];
    const left = await Promise.all(
      processes.map(async (one): Promise<LeftUp[]> => {
        const reason = await endGroup(one);
        if (reason !== null) return [{ kind: "process", name: processName(one), reason }];
        emit({ kind: "teardown", entry: deploymentId, phase: "part", message: `ended ${one.service}` });
        return [];
      }),
    );
    const strays = await endStrays(folder);
    if (strays !== null) left.push([{ kind: "process", name: deploymentId, reason: strays }]);
    // The folder holds the registration: as long as something runs, it has to be found again.
    return left.flat().length > 0 ? left.flat() : await removeFolder(folder);
  },
};

async function labelledBy(folder: string, registration: Registration): Promise<Labelled[]> {
  const { deployment: deploymentId, owner, expires: expiresAt, state } = registration;
  const common = { deploymentId, owner, expiresAt, state };
  const running = await Promise.all(registration.processes.map(async (one) => ((await ownMembers(one)).length > 0 ? [one] : [])));
  return [
    ...running.flat().map((one): Labelled => ({ ...common, kind: "process", name: processName(one) })),
    { ...common, kind: "folder", name: folder },
  ];
}

function processName(one: { readonly service: string; readonly pid: number }): string {
  return `${one.service} (pid ${one.pid})`;
}

async function removeFolder(folder: string): Promise<LeftUp[]> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    return [];
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    return [{ kind: "folder", name: folder, reason: error.message }];
  }
}
