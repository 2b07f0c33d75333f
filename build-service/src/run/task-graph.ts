export type GraphStep = {
  readonly id: string;
  readonly dependsOn: readonly string[];
  /** A failure of this step is a failure of the task: nothing new is started after it. */
  readonly failsTask: boolean;
};

export type StepOutcome =
  | { readonly id: string; readonly status: "done"; readonly message: string }
  | { readonly id: string; readonly status: "failed"; readonly error: unknown }
  | { readonly id: string; readonly status: "not run" };

/**
 * Runs steps as soon as their dependencies have ended, as many at once as that allows. After a failure that fails the
 * task, or once `signal` is aborted, no new step starts and the running ones are waited for (5-run §7.1–2). The outcomes
 * are in the order of `steps`, whose dependencies only name earlier ones.
 */
export async function runGraph<Step extends GraphStep>(
  steps: readonly Step[],
  run: (step: Step) => Promise<string>,
  signal: AbortSignal,
): Promise<StepOutcome[]> {
  let stopped = false;
  const ended = new Map<string, Promise<StepOutcome>>();
  for (const step of steps) ended.set(step.id, outcomeOf(step));
  return Promise.all(steps.map((step) => ended.get(step.id) ?? Promise.resolve(notRun(step))));

  async function outcomeOf(step: Step): Promise<StepOutcome> {
    const before = await Promise.all(step.dependsOn.map((id) => ended.get(id)));
    if (stopped || signal.aborted || before.some((outcome) => outcome?.status === "not run")) return notRun(step);
    try {
      return { id: step.id, status: "done", message: await run(step) };
    } catch (error) {
      if (step.failsTask) stopped = true;
      return { id: step.id, status: "failed", error };
    }
  }
}

const notRun = (step: GraphStep): StepOutcome => ({ id: step.id, status: "not run" });
