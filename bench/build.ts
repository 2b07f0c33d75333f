import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { materialize } from "../build-service/src/bundle/materialize.ts";
import { planBundle } from "../build-service/src/bundle/plan.ts";
import { IMAGE_LABEL } from "../build-service/src/images/build.ts";
import { connectEngine } from "../build-service/src/images/engine.ts";
import { imageBuilder } from "../build-service/src/infra/builder.ts";
import { openLocalStore } from "../build-service/src/store/local.ts";
import { newRunId } from "../build-service/src/store/run-lock.ts";
import { mustRun } from "../scripts/setup/command.ts";
import { type Bench, rowOf, secondsOf } from "./row.ts";

const FILES = 1_000;
const FILE_BYTES = 10_000;
const ROUNDS = 5;
const PEER_TAG = "agent-env-bench-build";

/** What planning, hashing, packing, recording and following a build take beyond the build. */
export const build: Bench = {
  name: "build",
  about: `planning and making a bundle of one MCP server (${FILES} files, ${(FILES * FILE_BYTES) / 1_000_000} MB), and docker build of the same folder`,

  async run(say) {
    const folder = mkdtempSync(join(tmpdir(), "agent-env-bench-"));
    const store = await openLocalStore(join(folder, "state"), "write");
    const ours: number[] = [];
    const peer: number[] = [];
    try {
      const context = makeBundle(join(folder, "bundle"));
      // Each build gets a file of its own, before every step: nothing of another build can be reused.
      for (let round = 1; round <= ROUNDS; round++) {
        say(`round ${round} of ${ROUNDS}`);
        writeFileSync(join(context, "round.txt"), `ours ${folder} ${round}\n`);
        ours.push(await secondsOf(() => make(join(folder, "bundle"), store)));
        writeFileSync(join(context, "round.txt"), `peer ${folder} ${round}\n`);
        const tag = `${PEER_TAG}:${round}`;
        const args = ["build", "-q", "-t", tag, context];
        peer.push(await secondsOf(() => mustRun("docker", args, { budgetSeconds: 300, env: { ...process.env, DOCKER_BUILDKIT: "0" } })));
        await connectEngine().getImage(tag).remove({ force: true });
      }
      return [rowOf({ bench: "build", metric: "overhead of a first build over docker build", unit: "s", ours, peer, beyond: true })];
    } finally {
      await store.close();
      await removeImages(basename(folder));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function make(bundle: string, store: Awaited<ReturnType<typeof openLocalStore>>): Promise<void> {
  const builder = imageBuilder();
  const { plan, problems } = await planBundle({ folder: bundle, selection: { tasks: [], evals: [] }, store, engine: builder });
  if (plan === null) throw new Error(`the bundle of the bench is refused: ${JSON.stringify(problems)}`);
  const { signal } = new AbortController();
  await materialize(plan, { store, builder, buildsAtOnce: 2, emit: () => undefined, runId: newRunId(new Date()), signal });
}

/** A bundle with one env and a task that deploys it. Gives the env's folder, which is the build's context. */
function makeBundle(bundle: string): string {
  const context = join(bundle, "envs", "items");
  mkdirSync(join(context, "data"), { recursive: true });
  mkdirSync(join(bundle, "tasks"));
  writeFileSync(
    join(context, "Dockerfile"),
    'FROM debian:bookworm-slim\nCOPY . /app\nRUN ls /app/data | wc -l\nCMD ["sleep", "infinity"]\n',
  );
  writeFileSync(join(context, "env.toml"), 'environment_name = "items"\n');
  for (let index = 0; index < FILES; index++) {
    writeFileSync(join(context, "data", `${index}.txt`), `${index}\n`.repeat(FILE_BYTES).slice(0, FILE_BYTES));
  }
  writeFileSync(join(bundle, "tasks", "deploy.json"), JSON.stringify([{ id: "deploy", type: "deploy_env", env_id: "items" }]));
  return context;
}

/** Ours are found by their label, which holds the bundle's folder. */
async function removeImages(folderName: string): Promise<void> {
  const docker = connectEngine();
  const images = await docker.listImages({ filters: { label: [IMAGE_LABEL] } });
  const own = images.filter(({ Labels }) => Labels?.[IMAGE_LABEL]?.includes(folderName));
  for (const { Id } of own) await docker.getImage(Id).remove({ force: true });
}
