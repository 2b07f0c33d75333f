import Docker from "dockerode";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, type Ended, type Started } from "../fixtures/agent-env.ts";
import { until } from "../fixtures/until.ts";

const docker = new Docker();

/** Names of containers and networks on the Engine that belong to deployments of this state folder's runs. */
async function ours(deployments: readonly string[]): Promise<string[]> {
  const containers = await docker.listContainers({ all: true, filters: { label: ["agent-env.deployment"] } });
  const networks = await docker.listNetworks({ filters: { label: ["agent-env.deployment"] } });
  const isOurs = (labels: Record<string, string> | undefined) => deployments.includes(labels?.["agent-env.deployment"] ?? "");
  return [
    ...containers.filter(({ Labels }) => isOurs(Labels)).flatMap(({ Names }) => Names),
    ...networks.filter(({ Labels }) => isOurs(Labels)).map(({ Name }) => Name),
  ];
}

/** Ids of all deployments that the output names as starting. */
function deploymentsIn({ out, err }: Pick<Ended, "out" | "err">): string[] {
  return [...`${out}${err}`.matchAll(/^([a-z0-9-]+): deploying /gm)].flatMap(([, id]) => id ?? []);
}

describe("examples/suite in containers", () => {
  let cli: AgentEnv;
  let first: Ended;
  beforeAll(async () => {
    cli = agentEnv();
    first = await cli.run("run", "examples/suite");
  });
  afterAll(() => cli.remove());

  test("P1 P4 five deployments behind gateways and one without pass their verifiers", () => {
    expect(first.exitCode, first.out + first.err).toBe(0);
    expect(first.out).toContain("6 of 6 tasks passed");
    for (const task of ["items", "items-direct", "notes", "shop", "shoprel", "suite"])
      expect(first.out).toContain(`tasks/${task}.json: passed (verify 1)`);
  });

  test("B12 leaves no container and no network", async () => {
    const deployments = deploymentsIn(first);
    expect(deployments).toHaveLength(6);
    expect(await ours(deployments)).toEqual([]);
    expect((await cli.run("gc", "--dry-run")).out).toBe("nothing is left over\n");
  });

  test("B8.1 N7 a rerun builds and writes nothing, and proves each image by its id", async () => {
    const { out, exitCode } = await cli.run("run", "examples/suite", "--json");
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(exitCode).toBe(0);
    expect(events.filter(({ kind, reasons }) => kind === "write" && reasons.length > 0)).toEqual([]);
    const images = events.filter(({ kind }) => kind === "image");
    expect(images.length).toBeGreaterThan(0);
    expect(new Set(images.map(({ phase }) => phase))).toEqual(new Set(["reused"]));
    expect(images.every(({ message }) => /the Engine holds sha256:[0-9a-f]{64}/.test(message))).toBe(true);
  });

  test("N7 an image that the Engine has lost is built again from its stored context, with the reason", async () => {
    const { out: json } = await cli.run("run", "examples/suite", "--task", "items-direct", "--json");
    const reused = json
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .find(({ kind, phase, entry }) => kind === "image" && phase === "reused" && entry.includes("items-direct"));
    const id = /sha256:[0-9a-f]{64}/.exec(reused.message)?.[0] ?? "";
    await docker.getImage(id).remove({ force: true });
    const { out, exitCode } = await cli.run("run", "examples/suite", "--task", "items-direct");
    expect(exitCode, out).toBe(0);
    expect(out).toContain("items-direct (Dockerfile image): v1, unchanged");
    expect(out).toMatch(/built again: the Engine has lost sha256:/);
  });

  test("B12 SIGINT in the middle of a deploy takes down what was started", async () => {
    const run = cli.start("run", "examples/suite", "--task", "suite");
    await run.seen(": deploying ");
    await until("a container is there", 30_000, async () => (await anyOf(run)).length > 0);
    run.child.kill("SIGINT");
    const ended = await run.ended;
    expect(ended.exitCode).toBe(130);
    expect(await ours(deploymentsIn(ended))).toEqual([]);
  });

  test("B12 N8 after kill -9 in the middle of a deploy gc removes all of it", async () => {
    const run = cli.start("run", "examples/suite", "--task", "suite");
    await run.seen(": deploying ");
    await until("a container is there", 30_000, async () => (await anyOf(run)).length > 0);
    run.child.kill("SIGKILL");
    const ended = await run.ended;
    const deployments = deploymentsIn(ended);
    const listed = await cli.run("gc", "--dry-run");
    expect(listed.out).toContain(deployments[0]);
    expect((await cli.run("gc")).exitCode).toBe(0);
    expect(await ours(deployments)).toEqual([]);
    expect((await cli.run("gc", "--dry-run")).out).toBe("nothing is left over\n");
  });

  /** What is there of the deployment that the run has named so far. */
  async function anyOf(run: Started): Promise<string[]> {
    return ours(deploymentsIn(run.soFar()));
  }
});
