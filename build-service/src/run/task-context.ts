import type { Deployment } from "../deploy/deployment.ts";

/** What the steps of one task run share. Written by the task graph; steps reach it through these functions. */
export type TaskContext = {
  readonly deployedEnvs: ReadonlyMap<string, Deployment>;
};
