import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import type { LeftUp } from "../../../deploy/deployment.ts";
import { LABELS } from "../../../deploy/labels.ts";
import { until } from "../../../deploy/until.ts";
import { ask, engineMessage, engineStatus, orWhenGone } from "../../../images/engine.ts";
import type { Emit } from "../../../report/events.ts";
import type { Labelled } from "../provider.ts";
import { networkName } from "./container-spec.ts";

/** Each thing has this long to go (5-run §11.3). */
const BUDGET_MS = 120_000;
const LOOK_EVERY_MS = 100;

type Kind = "container" | "network" | "volume";
type Found = { readonly kind: Kind; readonly name: string; readonly id: string; readonly labels: Readonly<Record<string, string>> };

/** Everything of any deployment on the Engine, as the labels say. */
export async function labelledThings(docker: Docker): Promise<Labelled[]> {
  return (await things(docker, LABELS.deployment)).map(({ kind, name, labels }) => ({
    kind,
    name,
    deploymentId: labels[LABELS.deployment] ?? "",
    owner: labels[LABELS.owner] ?? "",
    expiresAt: labels[LABELS.expires] ?? "",
    state: labels[LABELS.state] ?? "",
  }));
}

/** Removes all of one deployment that the labels find: containers at once, then what only they held. Gives what is still there. */
export async function removeThings(docker: Docker, deploymentId: string, emit: Emit): Promise<LeftUp[]> {
  let found: Found[];
  try {
    found = await things(docker, `${LABELS.deployment}=${deploymentId}`);
  } catch (error) {
    return [{ kind: "container", name: `${networkName(deploymentId)}-*`, reason: engineMessage(error) }];
  }
  const ofKind = (kind: Kind): Found[] => found.filter((thing) => thing.kind === kind);
  const remove = async (thing: Found): Promise<LeftUp[]> => {
    const reason = await removed(docker, thing);
    if (reason !== null) return [{ kind: thing.kind, name: thing.name, reason }];
    emit({ kind: "teardown", entry: deploymentId, phase: "part", message: `removed the ${thing.kind} ${thing.name}` });
    return [];
  };
  const containers = await Promise.all(ofKind("container").map(remove));
  const others = await Promise.all([...ofKind("network"), ...ofKind("volume")].map(remove));
  return [...containers, ...others].flat();
}

async function things(docker: Docker, label: string): Promise<Found[]> {
  const filters = { label: [label] };
  const [containers, networks, volumes] = await ask(
    "list what is labelled",
    Promise.all([docker.listContainers({ all: true, filters }), docker.listNetworks({ filters }), docker.listVolumes({ filters })]),
  );
  return [
    ...containers.map(
      ({ Id, Names, Labels }): Found => ({ kind: "container", name: Names[0]?.replace(/^\//, "") ?? Id, id: Id, labels: Labels }),
    ),
    ...networks.map(({ Id, Name, Labels }): Found => ({ kind: "network", name: Name, id: Id, labels: Labels ?? {} })),
    ...(volumes.Volumes ?? []).map(({ Name, Labels }): Found => ({ kind: "volume", name: Name, id: Name, labels: Labels ?? {} })),
  ];
}

/** Null once the thing is gone, else why it isn't. What passes is tried again: a removal under way, an endpoint still on the network. */
async function removed(docker: Docker, { kind, id }: Found): Promise<string | null> {
  const deadline = AbortSignal.timeout(BUDGET_MS);
  let reason = `not removed within ${BUDGET_MS / 1000} s`;
  for (;;) {
    try {
      await until(deadline, orWhenGone(null, removal(docker, kind, id)));
      return null;
    } catch (error) {
      if (deadline.aborted) return reason;
      reason = engineMessage(error);
      if (engineStatus(error) === null) return reason;
    }
    await delay(LOOK_EVERY_MS);
  }
}

function removal(docker: Docker, kind: Kind, id: string): Promise<unknown> {
  switch (kind) {
    case "container":
      return docker.getContainer(id).remove({ force: true, v: true });
    case "network":
      return docker.getNetwork(id).remove();
    case "volume":
      return docker.getVolume(id).remove();
  }
}
