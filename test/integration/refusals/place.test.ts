import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { checkBundle } from "../../../build-service/src/bundle/check.ts";
import { planBundle } from "../../../build-service/src/bundle/plan.ts";
import { openLocalStore } from "../../../build-service/src/store/local.ts";
import type { Store } from "../../../build-service/src/store/store.ts";
import { putNextVersion } from "../../../build-service/src/store/versions.ts";
import { NO_DOCKER } from "../../fixtures/agent-env.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { untouchableStore } from "../../fixtures/memory-store.ts";
import { deploying, server, steps } from "./refusal.ts";
import { commandProblems, shownLines } from "./refused.ts";
import { storedImage, storedServer } from "./stored.ts";

/** What a check says of a folder, which a plan says too. */
async function lines(folder: string, root: string): Promise<readonly string[]> {
  const { problems } = await checkBundle(folder);
  const planned = await planBundle({ folder, selection: { tasks: [], evals: [] }, store: untouchableStore() });
  expect(planned).toEqual({ plan: null, problems });
  return shownLines(problems, root);
}

test("B5 a folder that isn't there, is a file, is a broken link, or is the root of everything", async () => {
  using folder = temporaryFolder({ file: "", link: ["nowhere"] });
  const paths = [join(folder.path, "nowhere"), join(folder.path, "file"), join(folder.path, "link"), "/"];
  expect((await Promise.all(paths.map((path) => lines(path, folder.path)))).flat()).toEqual([
    "no-folder <bundle>/nowhere: can't be opened: it isn't there",
    "no-folder <bundle>/file: is a file: name the folder that holds the bundle",
    "no-folder <bundle>/link: can't be opened: it isn't there",
    "no-folder /: is the file system's root, which can be no bundle: name a folder in it",
  ]);
});

test("B5 parts of a path that can't be in an id, each, beside what is wrong in the bundle", async () => {
  using folder = temporaryFolder({ "a#b/c:d/envs/x/env.toml": "id = 1\n" });
  expect(await lines(join(folder.path, "a#b", "c:d"), folder.path)).toEqual([
    `id-root <bundle>/a#b/c:d: can't be part of an id: it holds ":" (U+003A); letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename the folder, or move the bundle`,
    `id-root <bundle>/a#b: can't be part of an id: it holds "#" (U+0023); letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename the folder, or move the bundle`,
    'bad-id envs/x: env.toml: id: expected a text that starts with "@local/", and found 1',
  ]);
});

test("B5 a path so long that an id under it has no room for a name", async () => {
  using folder = temporaryFolder();
  const bundle = folder.path + "/x".repeat((4070 - folder.path.length) / 2);
  mkdirSync(join(bundle, "envs"), { recursive: true });
  const { problems } = await checkBundle(bundle);
  expect(problems).toEqual([
    { code: "id-root", path: bundle, message: "is so long a path that an id under it has no room for a name: move the bundle up" },
  ]);
});

test("B5 an image whose source the store has lost, where only the source can run; the store stays as it was", async () => {
  using bundle = temporaryFolder(steps({ id: "x", type: "deploy_env", env_id: "mail" }));
  using outside = temporaryFolder();
  const stateDir = join(outside.path, "state");
  const before = await inStore(stateDir, async (store) => {
    for (const { kind, record } of [storedImage("image"), storedServer("mail", "mail")]) await putNextVersion(store, kind, record, {});
  });
  const { exitCode, problems } = await commandProblems(["run", bundle.path, "--sandbox", "process", "--json"], stateDir);
  expect({ exitCode, lines: shownLines(problems, bundle.path) }).toEqual({
    exitCode: 1,
    lines: ["deploy-image tasks/t.json: step 'x': image: process runs images from their source, and the store has lost this one's"],
  });
  expect(before.length).toBeGreaterThan(0);
  expect(await inStore(stateDir, async () => {})).toEqual(before);
});

test("B5 a gateway's env that is another in the store, beside an Engine that isn't there", async () => {
  using bundle = temporaryFolder({ ...server("a"), ...deploying("a") });
  using outside = temporaryFolder();
  const stateDir = join(outside.path, "state");
  await inStore(stateDir, async (store) => {
    const { kind, record } = storedServer("default", "default");
    await putNextVersion(store, kind, record, {});
  });
  vi.stubEnv("DOCKER_HOST", NO_DOCKER.DOCKER_HOST);
  const { exitCode, problems } = await commandProblems(["run", bundle.path, "--sandbox", "local", "--json"], stateDir);
  vi.unstubAllEnvs();
  expect({ exitCode, lines: shownLines(problems, bundle.path) }).toEqual({
    exitCode: 1,
    lines: [
      "deploy-infra tasks/run.json: step 'deploy a': default is an env of type mcp_server in the store, and [envs] default_gateway_env_id names it as the gateway's: name another there",
      "deploy-engine tasks/run.json: step 'deploy a': no Docker Engine answers: nothing listens at unix:///nonexistent/docker.sock; start Docker, or set DOCKER_HOST; `agent-env doctor` says what is found; `--sandbox process` needs no Docker",
    ],
  });
});

/** Does something in the store of a state folder, and lists what it holds then. */
async function inStore(stateDir: string, act: (store: Store) => Promise<void>): Promise<readonly { key: string; etag: string }[]> {
  const store = await openLocalStore(stateDir, "write");
  try {
    await act(store);
    return (await store.local.objects.list("")).map(({ key, etag }) => ({ key, etag }));
  } finally {
    await store.close();
  }
}
