import { chmodSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { imageId } from "../../build-service/src/images/bases-held.ts";
import { IMAGE_LABEL } from "../../build-service/src/images/build.ts";
import { newestBuildRow } from "../../build-service/src/images/ensure.ts";
import { imageBuilder } from "../../build-service/src/infra/builder.ts";
import { fetchBases } from "../../build-service/src/run/fetch-bases.ts";
import type { Store } from "../../build-service/src/store/store.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { changes, lines, make, plan } from "../fixtures/make-bundle.ts";
import { noRegistry, type Registry, startRegistry } from "../fixtures/registry.ts";
import { docker, noEngine, testBed } from "./support.ts";

const IMAGE = "envs/items (Dockerfile image)";
const builder = imageBuilder();
const unreachable = "localhost:1/none:1";

const folders: string[] = [];

/** A bundle of one env that a task deploys, built from that Dockerfile. Its images go when the tests have ended. */
function bundle(dockerfile: string): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder({
    "envs/items/Dockerfile": dockerfile,
    "envs/items/env.toml": 'environment_name = "items"\n',
    "tasks/deploy.json": JSON.stringify([{ id: "deploy", type: "deploy_env", env_id: "items" }]),
  });
  folders.push(folder.path);
  return folder;
}

/** A base goes only after what was built on it. */
async function removeBuilt(): Promise<void> {
  const images = await docker.listImages({ filters: { label: [IMAGE_LABEL] } });
  const own = images.filter(({ Labels }) => folders.some((path) => Labels?.[IMAGE_LABEL]?.includes(path)));
  for (const { Id } of own) await docker.getImage(Id).remove({ force: true });
}

afterAll(async () => {
  if (noEngine === undefined) await removeBuilt();
});

describe.skipIf(noEngine ?? noRegistry)("base images of a registry", () => {
  let registry: Registry;
  let base: string;
  beforeAll(async () => {
    registry = await startRegistry(docker);
    base = `${registry.host}/base:1`;
  });
  afterAll(async () => {
    await removeBuilt();
    await registry[Symbol.asyncDispose]();
  });

  /** What `--pull` and `--pull --lock` do before a run makes its plan. */
  async function pulled(folder: string, store: Store, lock: boolean): Promise<void> {
    const before = await plan({ folder, store, builder });
    await fetchBases(before, { builder, lock, emit: () => {}, signal: new AbortController().signal });
  }

  async function builtOn(folder: string, store: Store, version: number) {
    const { bundle: planned } = await plan({ folder, store, builder });
    const image = { id: `${planned.idRoot}/items__env_image`, version, platform: null };
    return (await newestBuildRow(store, image, builder))?.row;
  }

  test("N7 --pull fetches a base that has changed in its registry, and the image is written anew for that reason", async () => {
    await using place = await testBed();
    using folder = bundle(`FROM ${base}\nCOPY . /app\n`);
    const { path } = folder;
    const old = await registry.push("base:1", "old");
    await make({ folder: path, store: place.store, builder });
    expect((await builtOn(path, place.store, 1))?.bases).toEqual({ [base]: old.id });

    const fresh = await registry.push("base:1", "fresh");
    await docker.getImage(old.id).tag({ repo: `${registry.host}/base`, tag: "1" });
    expect(changes(await plan({ folder: path, store: place.store, builder }))).toEqual([]);

    await pulled(path, place.store, false);
    const reason = [`${IMAGE}: v2 (base image changed: ${base})`];
    expect(changes(await plan({ folder: path, store: place.store, builder })).slice(0, 1)).toEqual(reason);
    expect(changes((await make({ folder: path, store: place.store, builder })).plan).slice(0, 1)).toEqual(reason);
    expect((await builtOn(path, place.store, 2))?.bases).toEqual({ [base]: fresh.id });
    expect(changes(await plan({ folder: path, store: place.store, builder }))).toEqual([]);
  });

  test("--pull --lock fixes what it fetched; a build takes that, whatever the tag names by then", async () => {
    await using place = await testBed();
    using folder = bundle(`ARG V=1\nFROM ${registry.host}/base:\${V}\nCOPY . /app\n`);
    const { path } = folder;
    const fixed = await registry.push("base:1", "fixed");
    await pulled(path, place.store, true);
    expect(readFileSync(join(path, "agent-env.lock"), "utf8")).toBe(
      `# Base images by digest. Written by agent-env run <bundle> --pull --lock.\n[images]\n"${base}" = "${fixed.digest}"\n`,
    );

    const moved = await registry.push("base:1", "moved");
    await make({ folder: path, store: place.store, builder });
    expect(await builtOn(path, place.store, 1)).toMatchObject({ bases: { [base]: fixed.id }, locked: { [base]: fixed.digest } });
    expect(changes(await plan({ folder: path, store: place.store, builder }))).toEqual([]);

    // A colleague's lock file names a digest that this Engine has never seen.
    await docker.getImage(moved.id).remove({ force: true });
    writeFileSync(join(path, "agent-env.lock"), `[images]\n"${base}" = "${moved.digest}"\n`);
    const reason = [`${IMAGE}: v2 (base image changed: ${base})`];
    expect(changes(await plan({ folder: path, store: place.store, builder })).slice(0, 1)).toEqual(reason);
    await make({ folder: path, store: place.store, builder });
    expect(await builtOn(path, place.store, 2)).toMatchObject({ bases: { [base]: moved.id }, locked: { [base]: moved.digest } });
    expect(changes(await plan({ folder: path, store: place.store, builder }))).toEqual([]);
  });

  test("--pull leaves a base alone that is fixed, and --lock fetches it anew", async () => {
    await using place = await testBed();
    using folder = bundle(`FROM ${base}\n`);
    const { path } = folder;
    const fixed = await registry.push("base:1", "one");
    await pulled(path, place.store, true);
    const moved = await registry.push("base:1", "two");
    await pulled(path, place.store, false);
    expect(readFileSync(join(path, "agent-env.lock"), "utf8")).toContain(fixed.digest);
    await pulled(path, place.store, true);
    expect(readFileSync(join(path, "agent-env.lock"), "utf8")).toContain(moved.digest);
  });
});

describe.skipIf(noEngine)("an image on the Engine", () => {
  test("--pull of a registry that can't be reached says so", async () => {
    const request = { entry: IMAGE, platform: null, emit: () => {}, signal: new AbortController().signal };
    const error: unknown = await builder.fetchBase(unreachable, request).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: `${IMAGE}: the base image ${unreachable} can't be pulled`,
      why: expect.stringContaining("connection refused"),
      next: "make its registry reachable, or leave --pull out to build on what is here",
    });
  });

  test("B8.1 --rebuild writes a new version for that reason, and runs every step again", async () => {
    await using place = await testBed();
    const step = "RUN cat /proc/sys/kernel/random/uuid > /id";
    using folder = bundle(`FROM debian:bookworm-slim\n${step}\n`);
    const { path } = folder;
    const request = { folder: path, store: place.store, builder };
    const { plan: first } = await make(request);
    const tag = first.writes.find(({ entry }) => entry === IMAGE);
    expect(tag?.version).toBe(1);
    const idOf = async () => imageId(docker, (await tagOf(path, place.store)) ?? "");
    const before = await idOf();

    const rebuilt = [`${IMAGE}: v2 (rebuild asked for)`, "envs/items: v2 (artifact ITEMS__env_image is written anew (v1 → v2))"];
    const shown = (all: string[]) => all.map((line) => line.replace(/@local\/\S*items__env_image/, "ITEMS__env_image"));
    expect(shown(changes(await plan({ ...request, rebuild: ["envs/items"] })))).toEqual(rebuilt);
    const { plan: second, events } = await make({ ...request, rebuild: ["envs/items"] });
    expect(shown(changes(second))).toEqual(rebuilt);
    expect(JSON.stringify(events)).toContain("Running in");
    expect(JSON.stringify(events)).not.toContain("Using cache");
    expect(await idOf()).not.toBe(before);
    expect(lines(await plan(request)).filter((line) => !line.endsWith(", unchanged"))).toEqual([]);
  });

  test("B2.4 B8.1 of a website the side that an edit is seen by is built again, and neither for a checkout's modes and times", async () => {
    await using place = await testBed();
    using folder = temporaryFolder({
      "envs/shop/env.toml": 'type = "website"\nenvironment_name = "shop"\n',
      "envs/shop/Dockerfile.backend": "FROM scratch\nCOPY . /\n",
      "envs/shop/Dockerfile.frontend": "FROM scratch\nCOPY . /\n",
      "envs/shop/Dockerfile.backend.dockerignore": "pages\nDockerfile.frontend*\n",
      "envs/shop/Dockerfile.frontend.dockerignore": "server\nenv.toml\nDockerfile.backend*\n",
      "envs/shop/server/api.py": `# ${Math.random()}\n`,
      "envs/shop/pages/index.html": `<!-- ${Math.random()} -->\n`,
      "tasks/deploy.json": JSON.stringify([{ id: "deploy", type: "deploy_env", env_id: "shop" }]),
    });
    folders.push(folder.path);
    const request = { folder: folder.path, store: place.store, builder };
    const shop = join(folder.path, "envs", "shop");
    const builds = async (): Promise<string[]> => {
      const { events } = await make(request);
      return events.flatMap((event) => (event.kind === "image" && event.phase === "done" ? [event.entry] : [])).sort();
    };
    const [backend, frontend] = ["envs/shop (Dockerfile.backend image)", "envs/shop (Dockerfile.frontend image)"];
    expect(await builds()).toEqual([backend, frontend]);

    writeFileSync(join(shop, "pages", "index.html"), "<!-- edited -->\n");
    expect(await builds()).toEqual([frontend]);
    writeFileSync(join(shop, "server", "api.py"), "# edited\n");
    expect(await builds()).toEqual([backend]);

    for (const file of ["server/api.py", "pages/index.html", "env.toml", "Dockerfile.backend"]) {
      chmodSync(join(shop, file), 0o600);
      utimesSync(join(shop, file), 1, 1);
    }
    chmodSync(join(shop, "pages"), 0o700);
    expect(await builds()).toEqual([]);
    expect(changes(await plan(request))).toEqual([]);
  });

  async function tagOf(folder: string, store: Store): Promise<string | undefined> {
    const made = await plan({ folder, store, builder });
    const image = made.writes.find(({ entry }) => entry === IMAGE);
    const found = await docker.listImages({ filters: { label: [`${IMAGE_LABEL}=${image?.id}`] } });
    return found.flatMap(({ RepoTags }) => RepoTags ?? []).find((one) => one !== "<none>:<none>");
  }
});
