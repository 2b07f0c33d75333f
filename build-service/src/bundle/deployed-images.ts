import { entityById } from "./checked.ts";
import type { Plan } from "./plan.ts";
import { writeKey } from "./resolved.ts";

/** The keys of those images of the bundle that a deploy of the selected tasks runs. */
export function deployedImages({ inner }: Pick<Plan, "inner">): ReadonlySet<string> {
  const { checked } = inner;
  const needed = new Set(
    checked.tasks.flatMap(({ refs }) =>
      refs.filter(({ step, target }) => step.type === "deploy_env" && target.in === "bundle").map(({ target }) => target.id),
    ),
  );
  const images = new Set<string>();
  for (const envId of needed) {
    const env = entityById(checked, "env", envId);
    if (env === undefined) continue;
    for (const { id } of env.resolved.builds) images.add(writeKey("artifact", id));
    for (const { target } of env.resolved.refs.filter(({ target }) => target.in === "bundle")) {
      if (target.kind === "env") needed.add(target.id);
      else images.add(writeKey(target.kind, target.id));
    }
  }
  return images;
}
