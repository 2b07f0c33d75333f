import { DeploymentRecord } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import type { Deployment, LeftUp } from "../deploy/deployment.ts";
import type { StageEvent } from "../report/events.ts";
import { lineOf } from "../report/lines.ts";
import { BUILT_IN, type Registry } from "../types/registry.ts";
import { stepOf } from "./steps/step.ts";
import { type PlannedStep, runTask, type TaskResult, type TaskServices, takenDown } from "./task-run.ts";

const ran: string[] = [];

/** A step that notes that it ran, and fails if it is told to; its type says whether that fails the task. */
const note = (type: string, failsTask: boolean) =>
  stepOf({
    type,
    failsTask,
    fields: z.object({ fails: z.boolean().default(false) }),
    entityRefs: [],
    async run({ fails }, { stepId }) {
      ran.push(stepId);
      if (fails) throw new Error(`${stepId} was told to fail`);
      return "noted";
    },
  });
const registry: Registry = { ...BUILT_IN, steps: [note("strict", true), note("lenient", false)] };

const said: StageEvent[] = [];

async function run(steps: readonly PlannedStep[]): Promise<{ ran: string[]; outcome: string; failed: string[] }> {
  ran.length = 0;
  said.length = 0;
  const services: TaskServices = {
    registry,
    store: memoryStore(),
    emit: (event) => said.push(event),
    signal: new AbortController().signal,
    verifiers: { python: "python3", timeout_s: 1, memory_mb: 64 },
    deploy: () => Promise.reject(new Error("this test deploys nothing")),
    entity: () => Promise.reject(new Error("this test reads nothing")),
    keep: false,
  };
  const { outcome, failedSteps } = await runTask({ path: "tasks/t.json", id: "@local/t", steps }, services);
  return { ran: [...ran], outcome, failed: failedSteps.map(({ step }) => step) };
}

describe("a step that fails", () => {
  const then = { id: "then", type: "strict" };
  test("ends the task, where its type doesn't say otherwise", async () => {
    expect(await run([{ id: "a", type: "strict", fails: true }, then])).toEqual({ ran: ["a"], outcome: "failed", failed: ["a"] });
  });

  test("of a type whose failure doesn't fail the task lets what depends on it run, and the task has failed all the same", async () => {
    expect(await run([{ id: "a", type: "lenient", fails: true }, then])).toEqual({ ran: ["a", "then"], outcome: "failed", failed: ["a"] });
  });

  test("is told of as it fails, for a person in a line", async () => {
    await run([{ id: "a", type: "strict", fails: true }, then]);
    const entry = "tasks/t.json";
    expect(said).toEqual([
      { kind: "step", entry, step: "a", phase: "start", message: "strict" },
      { kind: "step", entry, step: "a", phase: "failed", message: "a was told to fail" },
    ]);
    expect(said.map(lineOf)).toEqual([null, "tasks/t.json: a: failed: a was told to fail"]);
  });

  test("does what it says itself, whatever its type", async () => {
    expect(await run([{ id: "a", type: "lenient", fails: true, fail_task_on_error: true }, then])).toMatchObject({ ran: ["a"] });
    expect(await run([{ id: "a", type: "strict", fails: true, fail_task_on_error: false }, then])).toMatchObject({ ran: ["a", "then"] });
  });
});

describe("what was kept of a task", () => {
  const stuck: LeftUp = { kind: "container", name: "shop-1", reason: "the engine is gone" };
  const kept = (id: string, left: LeftUp[]): Deployment => ({
    record: DeploymentRecord.parse({ deployment_id: id, name: id, auth: { mode: "open" }, servers: [] }),
    authorization: () => Promise.resolve({}),
    placeFile: () => Promise.resolve(false),
    logs: () => Promise.resolve(""),
    teardown: () => Promise.resolve(left),
  });
  const result: TaskResult = {
    path: "tasks/t.json",
    id: "@local/t",
    instanceId: "t-1",
    outcome: "passed",
    scores: {},
    failedSteps: [],
    durationS: 1,
    deployments: ["a-1", "b-1"],
    kept: [kept("a-1", []), kept("b-1", [stuck])],
    leftUp: [],
  };

  test("and can't be removed stands in the result, and is said", async () => {
    const events: StageEvent[] = [];
    expect(await takenDown(result, (event) => events.push(event))).toEqual({ ...result, kept: [], leftUp: [stuck] });
    expect(events).toEqual([
      { kind: "teardown", entry: "a-1", phase: "done", message: "taken down" },
      { kind: "teardown", entry: "b-1", phase: "done", message: "still up: shop-1" },
    ]);
  });
});
