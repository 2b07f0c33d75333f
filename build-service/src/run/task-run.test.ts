import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import type { StageEvent } from "../report/events.ts";
import { lineOf } from "../report/lines.ts";
import { BUILT_IN, type Registry } from "../types/registry.ts";
import { stepOf } from "./steps/step.ts";
import { type PlannedStep, runTask, type TaskServices } from "./task-run.ts";

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
