import { describe, expect, test } from "vitest";
import { type GraphStep, runGraph } from "./task-graph.ts";

const step = (id: string, dependsOn: string[] = [], failsTask = true): GraphStep => ({ id, dependsOn, failsTask });
const never = new AbortController().signal;

/** Runs the steps; those in `failing` throw. Gives the statuses, and the order in which the steps started. */
async function outcomes(steps: GraphStep[], failing: string[] = [], signal = never) {
  const started: string[] = [];
  const ended = await runGraph(
    steps,
    async ({ id }) => {
      started.push(id);
      await null;
      if (failing.includes(id)) throw new Error(id);
      return id;
    },
    signal,
  );
  return { statuses: ended.map(({ status }) => status), started };
}

describe("a task's steps", () => {
  test("run at once where nothing orders them", async () => {
    let atOnce = 0;
    let most = 0;
    await runGraph(
      [step("a"), step("b"), step("c", ["a", "b"])],
      async ({ id }) => {
        most = Math.max(most, ++atOnce);
        await null;
        atOnce--;
        return id;
      },
      never,
    );
    expect(most).toBe(2);
  });

  test("start after what they depend on", async () => {
    expect((await outcomes([step("a"), step("b", ["a"]), step("c", ["b"])])).started).toEqual(["a", "b", "c"]);
  });

  test("don't start after a failure that fails the task", async () => {
    const { statuses, started } = await outcomes([step("a"), step("b", ["a"]), step("c")], ["a"]);
    expect(statuses).toEqual(["failed", "not run", "done"]);
    expect(started).toEqual(["a", "c"]);
  });

  test("go on after a failure that doesn't fail the task", async () => {
    expect((await outcomes([step("a", [], false), step("b", ["a"])], ["a"])).statuses).toEqual(["failed", "done"]);
  });

  test("don't start once the run is interrupted", async () => {
    expect((await outcomes([step("a")], [], AbortSignal.abort())).statuses).toEqual(["not run"]);
  });
});
