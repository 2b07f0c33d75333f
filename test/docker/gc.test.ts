import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { deployEnv } from "../../build-service/src/deploy/deploy.ts";
import { findLeftovers, removeLeftovers } from "../../build-service/src/deploy/gc.ts";
import { stateLabel } from "../../build-service/src/deploy/labels.ts";
import { getDeployment } from "../../build-service/src/deploy/list.ts";
import { releaseDeployment } from "../../build-service/src/deploy/record.ts";
import { deployOptions, docker, envOf, labelledNames, mcpServer, noEngine, testBed } from "./support.ts";

const CHILD = fileURLToPath(new URL("../fixtures/deploy-and-stay.ts", import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Deploys in another process and kills that one, without a chance to clean up, at the first event that `moment` names. */
async function killedAt(stateDir: string, moment: (event: { kind: string; phase?: string; message: string }) => boolean): Promise<string> {
  const child = spawn(process.execPath, [CHILD, stateDir], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  let deploymentId: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const event: { kind: string; phase?: string; entry?: string; message: string } = JSON.parse(line);
    if (event.kind === "deploy") deploymentId ??= event.entry;
    if (deploymentId === undefined || !moment(event)) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
    return deploymentId;
  }
  throw new Error("the child ended by itself");
}

describe.skipIf(noEngine)("N8 what a killed run left", () => {
  test.each<[string, Parameters<typeof killedAt>[1]]>([
    ["with only its network up", ({ kind, phase }) => kind === "image" && phase === "reused"],
    ["in the middle of its probes", ({ kind, phase }) => kind === "deploy" && phase === "probe"],
    ["with its record written", ({ kind, phase }) => kind === "deploy" && phase === "ready"],
  ])("B12 %s is found by its labels and removed", async (_name, moment) => {
    await using place = await testBed();
    const id = await killedAt(place.stateDir, moment);
    const names = (await labelledNames(id)).map((name) => name.replace(/^\//, "")).sort();
    expect(names).toContain(`agent-env-${id}`);

    const found = await findLeftovers(place);
    expect(
      found
        .filter(({ kind }) => kind !== "record")
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names);
    expect(new Set(found.map(({ deploymentId, cause }) => `${deploymentId} ${cause}`))).toEqual(new Set([`${id} owner-gone`]));

    expect(await removeLeftovers(found, place)).toEqual([]);
    expect(await labelledNames(id)).toEqual([]);
    expect(await findLeftovers(place)).toEqual([]);
  });
});

describe.skipIf(noEngine)("N8 what lies on the Engine without a record", () => {
  test.each<[string, { state?: string; expires?: string }, string | null]>([
    ["whose run is gone is left over", {}, "its run run-gone has ended"],
    ["of another state folder isn't: only there is known whether its run lives", { state: "0123456789ab" }, null],
    [
      "of another state folder is once it has expired",
      { state: "0123456789ab", expires: "2026-01-01T00:00:00Z" },
      "expired 2026-01-01T00:00:00Z",
    ],
  ])("%s", async (_name, { state, expires = "2100-01-01T00:00:00Z" }, reason) => {
    await using place = await testBed();
    const Name = `agent-env-gc-test-${randomUUID()}`;
    const Labels = {
      "agent-env.deployment": Name,
      "agent-env.owner": "run-gone",
      "agent-env.expires": expires,
      "agent-env.state": state ?? stateLabel(place.stateDir),
    };
    const network = await docker.createNetwork({ Name, Labels });
    try {
      const found = (await findLeftovers(place)).filter(({ name }) => name === Name);
      expect(found.map((leftover) => leftover.reason)).toEqual(reason === null ? [] : [reason]);
    } finally {
      await network.remove();
    }
  });
});

describe.skipIf(noEngine)("N8 a deployment that has no run any more", () => {
  test("stays until it expires, and then goes with the next deploy", async () => {
    await using place = await testBed();
    const env = envOf([await mcpServer(place.store, "items")], "server");
    const { record } = await deployEnv(deployOptions(env, { ttlSeconds: 60 }), place);
    const id = String(record.deployment_id);
    const expired = new Date(Date.now() + 61_000);

    expect(await findLeftovers(place)).toMatchObject([{ cause: "owner-gone" }, { cause: "owner-gone" }]);
    await releaseDeployment(place.store, id);
    expect(await getDeployment(place.store, id)).toMatchObject({ owner: null, status: "up" });
    expect(await findLeftovers(place)).toEqual([]);
    const found = await findLeftovers(place, expired);
    expect(found.map(({ kind, cause, reason }) => [kind, cause, reason])).toEqual([
      ["container", "expired", `expired ${record.expires_at}`],
      ["network", "expired", `expired ${record.expires_at}`],
    ]);

    await removeLeftovers(found, place);
    expect(await getDeployment(place.store, id)).toMatchObject({ status: "stopped" });
  });
});
