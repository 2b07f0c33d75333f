import { setTimeout as pause } from "node:timers/promises";
import type Docker from "dockerode";
import { deployEnv } from "../build-service/src/deploy/deploy.ts";
import type { Deployment } from "../build-service/src/deploy/deployment.ts";
import { IMAGE_LABEL } from "../build-service/src/images/build.ts";
import { deployOptions, docker, envOf, mcpServer, testBed, website } from "../test/docker/support.ts";
import { type Bench, type Row, rowOf, secondsOf } from "./row.ts";

const ROUNDS = 5;
const NETWORK = "agent-env-bench-deploy";
const READY_BUDGET_MS = 60_000;

/** What ports, records, checks from inside and a description of the whole take beyond starting the same containers. */
export const deploy: Bench = {
  name: "deploy",
  about:
    "deploying an MCP server and a site behind a gateway, until it is checked and recorded, and starting the same containers through dockerode until the gateway is ready",

  async run(say) {
    await using place = await testBed();
    const env = envOf([await mcpServer(place.store, "bench-items"), await website(place.store, "bench-shop")]);
    say("building the images");
    const first = await deployEnv(deployOptions(env), place);
    const specs = await specsOf(first);
    await first.teardown();

    const times = { ours: [] as number[], peer: [] as number[], ourEnd: [] as number[], peerEnd: [] as number[] };
    for (let round = 1; round <= ROUNDS; round++) {
      say(`round ${round} of ${ROUNDS}`);
      let deployment: Deployment | undefined;
      times.ours.push(await secondsOf(async () => (deployment = await deployEnv(deployOptions(env), place))));
      times.ourEnd.push(await secondsOf(async () => deployment?.teardown()));
      try {
        times.peer.push(await secondsOf(() => startByHand(specs)));
      } finally {
        times.peerEnd.push(await secondsOf(removeByHand));
      }
    }
    await removeImages();
    return rows(times);
  },
};

function rows({ ours, peer, ourEnd, peerEnd }: Readonly<Record<"ours" | "peer" | "ourEnd" | "peerEnd", readonly number[]>>): Row[] {
  return [
    rowOf({ bench: "deploy", metric: "overhead of a deploy over starting its containers", unit: "s", ours, peer, beyond: true }),
    rowOf({
      bench: "deploy",
      metric: "overhead of a teardown over removing its containers",
      unit: "s",
      ours: ourEnd,
      peer: peerEnd,
      beyond: true,
    }),
  ];
}

async function removeImages(): Promise<void> {
  const images = await docker.listImages({ filters: { label: [IMAGE_LABEL] } });
  const own = images.filter(({ Labels }) => Labels?.[IMAGE_LABEL]?.startsWith("test/bench-"));
  for (const { Id } of own) await docker.getImage(Id).remove({ force: true });
}

type Spec = { readonly name: string; readonly options: Docker.ContainerCreateOptions };

/** How to make the containers of a deployment again, on a network of the bench's, without the labels that ours are found by. */
async function specsOf(deployment: Deployment): Promise<Spec[]> {
  const filters = { label: [`agent-env.deployment=${deployment.record.deployment_id}`] };
  const containers = await docker.listContainers({ filters });
  return Promise.all(
    containers.map(async ({ Id }) => {
      const { Name, Config, HostConfig, NetworkSettings } = await docker.getContainer(Id).inspect();
      const aliases = Object.values(NetworkSettings.Networks).flatMap((network) => network.Aliases ?? []);
      const { Image, Env, Cmd, Entrypoint, ExposedPorts, WorkingDir } = Config;
      const name = Name.replace("/", "").replace(String(deployment.record.deployment_id), "bench");
      return {
        name,
        options: {
          name,
          Image,
          Env,
          Cmd,
          WorkingDir,
          ...(Entrypoint ? { Entrypoint } : {}),
          ...(ExposedPorts ? { ExposedPorts } : {}),
          HostConfig: { ...HostConfig, NetworkMode: NETWORK },
          NetworkingConfig: { EndpointsConfig: { [NETWORK]: { Aliases: aliases.filter((alias) => !Id.startsWith(alias)) } } },
        },
      };
    }),
  );
}

async function startByHand(specs: readonly Spec[]): Promise<void> {
  await docker.createNetwork({ Name: NETWORK });
  const containers = await Promise.all(specs.map(async ({ options }) => docker.createContainer(options)));
  await Promise.all(containers.map((container) => container.start()));
  const gateway = containers[specs.findIndex(({ name }) => name.endsWith("-gateway"))];
  if (gateway === undefined) throw new Error(`no gateway among ${specs.map(({ name }) => name).join(", ")}`);
  const { NetworkSettings } = await gateway.inspect();
  const port = NetworkSettings.Ports["18765/tcp"]?.[0]?.HostPort;
  await answers(`http://127.0.0.1:${port}/health`);
}

async function removeByHand(): Promise<void> {
  const containers = await docker.listContainers({ all: true, filters: { network: [NETWORK] } });
  await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })));
  await docker.getNetwork(NETWORK).remove();
}

async function answers(url: string): Promise<void> {
  const deadline = Date.now() + READY_BUDGET_MS;
  for (let reason = "not asked yet"; ; ) {
    if (Date.now() > deadline) throw new Error(`${url} was not ready within ${READY_BUDGET_MS / 1000} s: ${reason}`);
    try {
      const answer = await fetch(url);
      if (answer.ok) return;
      reason = `status ${answer.status}`;
    } catch (error) {
      reason = String(error);
    }
    await pause(20);
  }
}
