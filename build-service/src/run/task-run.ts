import { randomBytes } from "node:crypto";
import type { AnyRecord, Kind } from "@agent-env/protocol";
import { dependencies } from "../bundle/step-order.ts";
import type { VerifierSettings } from "../config/settings.ts";
import type { Deployment, LeftUp } from "../deploy/deployment.ts";
import type { Emit } from "../report/events.ts";
import type { Store } from "../store/store.ts";
import { type Registry, stepType } from "../types/registry.ts";
import type { DeployRequest, TaskContext, Verification } from "./task-context.ts";
import { type GraphStep, runGraph, type StepOutcome } from "./task-graph.ts";

export type PlannedStep = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };
export type PlannedTask = { readonly path: string; readonly id: string; readonly steps: readonly PlannedStep[] };

export type TaskServices = {
  readonly registry: Registry;
  readonly store: Store;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly verifiers: VerifierSettings;
  deploy(request: DeployRequest, task: PlannedTask, signal: AbortSignal): Promise<Deployment>;
  entity(kind: Kind, id: string, version: number | null): Promise<AnyRecord>;
  /** Leaves what the task deployed up when it ends, for the caller to take down. */
  readonly keep: boolean;
};

export type TaskOutcome = "passed" | "scored below 1" | "unscored" | "failed" | "cancelled";

export type TaskResult = {
  readonly path: string;
  readonly id: string;
  readonly instanceId: string;
  readonly outcome: TaskOutcome;
  readonly scores: Readonly<Record<string, number>>;
  readonly failedSteps: readonly { readonly step: string; readonly error: unknown }[];
  readonly durationS: number;
  readonly deployments: readonly string[];
  /** What is up on purpose. */
  readonly kept: readonly Deployment[];
  readonly leftUp: readonly LeftUp[];
};

/** Runs one task: its steps as they depend on each other, then takes down all that it deployed, however it ended. */
export async function runTask(task: PlannedTask, services: TaskServices): Promise<TaskResult> {
  const started = performance.now();
  const deployments = new Map<string, Deployment>();
  const verifications = new Map<string, Verification>();
  const { store, emit, signal, verifiers } = services;
  const common = { task: task.path, store, emit, signal, verifiers, deployments, verifications };

  const outcomes = await runGraph(
    graphOf(task, services.registry),
    async (step) => {
      const type = stepType(services.registry, step.raw.type);
      if (type === undefined) throw new Error(`${task.path}: step type ${step.raw.type} passed the check and isn't known`);
      const context: TaskContext = {
        ...common,
        stepId: step.id,
        entity: services.entity,
        async deploy(request) {
          const deployment = await services.deploy(request, task, services.signal);
          deployments.set(request.envId, deployment);
          return deployment;
        },
      };
      services.emit({ kind: "step", entry: task.path, step: step.id, phase: "start", message: step.raw.type });
      try {
        const message = await type.run(step.raw, context);
        services.emit({ kind: "step", entry: task.path, step: step.id, phase: "done", message });
        return message;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        services.emit({ kind: "step", entry: task.path, step: step.id, phase: "failed", message });
        throw error;
      }
    },
    services.signal,
  );

  const up = [...deployments.values()];
  const kept = services.keep && !services.signal.aborted ? up : [];
  const leftUp = kept.length > 0 ? [] : await takeDown(up, services.emit);
  return {
    path: task.path,
    id: task.id,
    instanceId: `${task.id.split("/").at(-1)}-${randomBytes(4).toString("hex")}`,
    outcome: outcomeOf(outcomes, verifications, services.signal.aborted),
    scores: Object.fromEntries([...verifications].map(([step, { score }]) => [step, score])),
    failedSteps: outcomes.flatMap((outcome) => (outcome.status === "failed" ? [{ step: outcome.id, error: outcome.error }] : [])),
    durationS: Math.round(performance.now() - started) / 1000,
    deployments: up.map(({ record }) => record.deployment_id ?? record.name),
    kept,
    leftUp,
  };
}

/** A step depends on all earlier ones unless it says otherwise (5-run §7). */
function graphOf(task: PlannedTask, registry: Registry): (GraphStep & { readonly raw: PlannedStep })[] {
  return task.steps.map((raw, index) => {
    const dependsOn = dependencies(raw) ?? task.steps.slice(0, index).map(({ id }) => id);
    const asked = raw["fail_task_on_error"];
    const failsTask = typeof asked === "boolean" ? asked : (stepType(registry, raw.type)?.failsTask ?? true);
    return { id: raw.id, dependsOn, failsTask, raw };
  });
}

/** A task's result when what was kept of it is taken down, too. */
export async function takenDown(result: TaskResult, emit: Emit): Promise<TaskResult> {
  return { ...result, kept: [], leftUp: [...result.leftUp, ...(await takeDown(result.kept, emit))] };
}

/** Takes deployments down, all at once. Gives what could not be removed. */
async function takeDown(deployments: readonly Deployment[], emit: Emit): Promise<LeftUp[]> {
  const left = await Promise.all(
    deployments.map(async ({ record, teardown }) => {
      const leftUp = await teardown();
      const message = leftUp.length === 0 ? "taken down" : `still up: ${leftUp.map(({ name }) => name).join(", ")}`;
      emit({ kind: "teardown", entry: record.deployment_id ?? record.name, phase: "done", message });
      return leftUp;
    }),
  );
  return left.flat();
}

/** 5-run §11.1. A failed step counts also where it doesn't fail the task. */
function outcomeOf(outcomes: readonly StepOutcome[], verifications: ReadonlyMap<string, Verification>, cancelled: boolean): TaskOutcome {
  if (cancelled) return "cancelled";
  if (outcomes.some(({ status }) => status === "failed")) return "failed";
  const scores = [...verifications.values()].map(({ score }) => score);
  if (scores.length === 0) return "unscored";
  return scores.every((score) => score >= 1) ? "passed" : "scored below 1";
}
