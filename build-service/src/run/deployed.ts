import { UserError } from "@agent-env/protocol";
import type { Deployment } from "../deploy/deployment.ts";
import type { TaskContext } from "./task-context.ts";

/** The deployment of an env in this task. Throws a UserError that names what is deployed. */
export function deployed(context: TaskContext, envId: string): Deployment {
  const found = context.deployments.get(envId);
  if (found !== undefined) return found;
  const names = [...context.deployments.keys()];
  throw new UserError({
    what: `${context.task}: step ${JSON.stringify(context.stepId)}: ${envId} isn't deployed`,
    why: names.length === 0 ? "no env of this task is deployed by then" : `deployed are: ${names.join(", ")}`,
    next: "put a deploy_env step for it before this one",
  });
}
