import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { materialize } from "../build-service/src/bundle/materialize.ts";
import { planBundle } from "../build-service/src/bundle/plan.ts";
import { openLocalStore } from "../build-service/src/store/local.ts";
import { newRunId } from "../build-service/src/store/run-lock.ts";

/** A bundle of MCP servers that ours and the original read alike, with a task that deploys all of them. Gives its folder. */
export function makePlanBundle(
  folder: string,
  size: { readonly envs: number; readonly filesEach: number; readonly fileBytes: number },
): string {
  const bundle = join(folder, "bundle");
  const names = Array.from({ length: size.envs }, (_, index) => `items${index}`);
  for (const name of names) {
    const env = join(bundle, "envs", name);
    mkdirSync(env, { recursive: true });
    writeFileSync(join(env, "env.toml"), `environment_name = "${name}"\n`);
    writeFileSync(join(env, "Dockerfile"), 'FROM node:24-slim\nCOPY . /app\nCMD ["node", "/app/server.mjs"]\n');
    writeFileSync(join(env, "server.mjs"), "");
    for (let index = 0; index < size.filesEach; index++) {
      const data = join(env, "data", String(index % 100));
      if (index < 100) mkdirSync(data, { recursive: true });
      writeFileSync(join(data, `${index}.txt`), `${index}\n`.repeat(size.fileBytes).slice(0, size.fileBytes));
    }
  }
  mkdirSync(join(bundle, "tasks"));
  const steps = names.map((name) => ({ id: name, type: "deploy_env", env_id: name }));
  writeFileSync(join(bundle, "tasks", "deploy.json"), JSON.stringify(steps));
  return bundle;
}

/** Writes a bundle into a state folder as a run without Docker does, and starts nothing. */
export async function writeBundle(bundle: string, stateDir: string): Promise<void> {
  const store = await openLocalStore(stateDir, "write");
  try {
    const { plan, problems } = await planBundle({ folder: bundle, selection: { tasks: [], evals: [] }, store });
    if (plan === null) throw new Error(`the bundle of the bench is refused: ${JSON.stringify(problems)}`);
    const { signal } = new AbortController();
    await materialize(plan, { store, builder: null, buildsAtOnce: 1, emit: () => undefined, runId: newRunId(new Date()), signal });
  } finally {
    await store.close();
  }
}
