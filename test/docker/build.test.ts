import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, describe, expect, test } from "vitest";
import { imageId } from "../../build-service/src/images/bases-held.ts";
import { engineBuilder, IMAGE_LABEL, SOURCE_LABEL } from "../../build-service/src/images/build.ts";
import type { BuildResult } from "../../build-service/src/images/builder.ts";
import type { Locked } from "../../build-service/src/images/locked.ts";
import { sourceOf } from "../../build-service/src/infra/image-source.ts";
import type { StageEvent } from "../../build-service/src/report/events.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { until } from "../fixtures/until.ts";
import { docker, noEngine } from "./support.ts";

const ENTRY = "envs/trial (Dockerfile image)";
const TAG = "local/agent-env-build-test:1";
const never = new AbortController().signal;

afterAll(async () => {
  if (noEngine === undefined && (await imageId(docker, TAG)) !== null) await docker.getImage(TAG).remove();
});

async function built(
  files: Readonly<Record<string, string>>,
  options: {
    emit?: (event: StageEvent) => void;
    signal?: AbortSignal;
    locked?: Locked;
    isFresh?: boolean;
    timeoutS?: number;
    engine?: Docker;
  } = {},
): Promise<BuildResult & { sourceDigest: string }> {
  const source = sourceOf(new Map(Object.entries(files)));
  const request = {
    entry: ENTRY,
    imageId: "test/build",
    sourceDigest: source.digest,
    dockerfile: "Dockerfile",
    platform: null,
    tag: TAG,
    context: await source.tar(),
    ...(options.locked === undefined ? {} : { locked: options.locked }),
    isFresh: options.isFresh ?? false,
  };
  const builder = engineBuilder(options.engine ?? docker, { ownBases: [], timeoutS: options.timeoutS ?? 120 });
  const result = await builder.build(request, options.emit ?? (() => {}), options.signal ?? never);
  return { ...result, sourceDigest: source.digest };
}

async function errorOf(promise: Promise<unknown>): Promise<{ message: string; why: string; next: string }> {
  const error: unknown = await promise.then(
    () => "it was built",
    (thrown: unknown) => thrown,
  );
  if (error instanceof Error && "why" in error && "next" in error) {
    return { message: error.message, why: String(error.why), next: String(error.next) };
  }
  throw error;
}

describe.skipIf(noEngine)("P1 an image on the Engine", () => {
  test("B8.1 is built from exactly the given files, labelled with them, tagged, and tells its steps", async () => {
    const events: StageEvent[] = [];
    const emit = (event: StageEvent) => events.push(event);
    const { engineImageId, bases, log, sourceDigest } = await built({ Dockerfile: "FROM scratch\nCOPY . /\n", "a.txt": "a" }, { emit });

    const image = await docker.getImage(TAG).inspect();
    expect(image.Id).toBe(engineImageId);
    expect(image.Config.Labels).toEqual({ [IMAGE_LABEL]: "test/build", [SOURCE_LABEL]: sourceDigest });
    expect(bases).toEqual({});
    expect(log).toMatch(/^Step 1\/4 : FROM scratch\n/);
    expect(events.filter((event) => event.kind === "image" && event.phase === "step").slice(0, 2)).toEqual([
      { kind: "image", entry: ENTRY, phase: "step", message: "FROM scratch", step: 1, steps: 4 },
      { kind: "image", entry: ENTRY, phase: "step", message: "COPY . /", step: 2, steps: 4 },
    ]);
    expect(events.at(-1)).toEqual({ kind: "image", entry: ENTRY, phase: "done", message: `built ${engineImageId}` });
  });

  test("B8.1 records the ids of its base images", async () => {
    const { bases } = await built({ Dockerfile: "FROM debian:bookworm-slim AS a\nFROM scratch\nCOPY --from=a /etc/hostname /h\n" });
    expect(bases).toEqual({ "debian:bookworm-slim": await imageId(docker, "debian:bookworm-slim") });
  });

  test("a build that fails names the step and the first error, and shows the last 40 lines", async () => {
    const numbers = "for i in $(seq 1 60); do echo line $i; done; exit 3";
    const error = await errorOf(built({ Dockerfile: `FROM debian:bookworm-slim\nRUN ${numbers}\n` }));
    expect(error.message).toBe(`${ENTRY}: the build of Dockerfile failed at step 2 of 4: RUN ${numbers}`);
    const [first, title, ...lines] = error.why.split("\n");
    expect(first).toBe(`The command '/bin/sh -c ${numbers}' returned a non-zero code: 3`);
    expect(title).toBe("Its last lines:");
    expect(lines.slice(0, -1)).toEqual(Array.from({ length: 39 }, (_, at) => `line ${at + 22}`));
    expect(lines.at(-1)).toMatch(/^Removing intermediate container /);
    expect(error.next).toBe("mend Dockerfile or what it copies, then run the same command again");
  });

  test("a Dockerfile that the Engine can't read is a failure of the same form", async () => {
    expect(await errorOf(built({ Dockerfile: "FROM scratch\nFOO bar\n" }))).toEqual({
      message: `${ENTRY}: the build of Dockerfile failed`,
      why: "dockerfile parse error line 2: unknown instruction: FOO",
      next: "mend Dockerfile or what it copies, then run the same command again",
    });
  });

  test("a base image that can't be had is named, with what to do", async () => {
    const error = await errorOf(built({ Dockerfile: "FROM registry.invalid/none:1\n" }));
    expect(error.message).toBe(`${ENTRY}: the base image registry.invalid/none:1 is not on this machine and can't be pulled`);
    expect(error.why).toContain("registry.invalid");
    expect(error.next).toBe(
      "make its registry reachable, or `docker load` the image; in a checkout, `npm run setup` makes local stand-ins of the usual ones",
    );
  });

  test("a Dockerfile that needs BuildKit is refused with the line", async () => {
    expect(await errorOf(built({ Dockerfile: "FROM scratch\nRUN --mount=type=cache,target=/x true\n" }))).toEqual({
      message: `${ENTRY}: Dockerfile: line 2: RUN --mount needs BuildKit`,
      why: "images are built by the Engine's classic builder, the one that every Engine has",
      next: "write those lines without it",
    });
  });

  test("B12 a build that is aborted ends with the reason, and leaves no container", async () => {
    const abort = new AbortController();
    const reason = new Error("interrupted");
    let container: string | undefined;
    const emit = (event: StageEvent) => {
      container ??= /Running in ([0-9a-f]+)/.exec(event.kind === "image" ? event.message : "")?.[1];
      if (container !== undefined) abort.abort(reason);
    };
    await expect(built({ Dockerfile: "FROM debian:bookworm-slim\nRUN sleep 600\n" }, { emit, signal: abort.signal })).rejects.toBe(reason);
    const inspected = docker.getContainer(container ?? "").inspect();
    await expect(inspected).rejects.toMatchObject({ statusCode: 404 });
    await until("the builder's containers are gone", 20_000, async () => {
      return (await docker.listContainers({ all: true })).every(({ Command }) => !Command.includes("sleep 600"));
    });
  });

  test("B12 a build that takes too long is ended, says so, and leaves no container", async () => {
    let container = "";
    const emit = (event: StageEvent) => {
      container = /Running in ([0-9a-f]+)/.exec(event.kind === "image" ? event.message : "")?.[1] ?? container;
    };
    const error = await errorOf(built({ Dockerfile: "FROM debian:bookworm-slim\nRUN sleep 601\n" }, { emit, timeoutS: 2 }));
    expect(error.message).toBe(`${ENTRY}: the build of Dockerfile failed at step 2 of 4: RUN sleep 601`);
    expect(error.why.split("\n")[0]).toBe("it did not end within 2 s ([build] timeout_s)");
    await expect(docker.getContainer(container).inspect()).rejects.toMatchObject({ statusCode: 404 });
  });

  test("P1 an Engine that goes away in the middle of a build is named, with what to do", async () => {
    const sockets = new Set<Socket>();
    const between = createServer((client) => {
      const engine = connect("/var/run/docker.sock");
      for (const socket of [client, engine]) sockets.add(socket.on("error", () => {}));
      client.pipe(engine).pipe(client);
    });
    using folder = temporaryFolder();
    const socketPath = join(folder.path, "docker.sock");
    await new Promise<void>((resolve) => between.listen(socketPath, resolve));
    const emit = (event: StageEvent) => {
      if (event.kind !== "image" || !event.message.includes("Running in")) return;
      between.close();
      for (const socket of sockets) socket.destroy();
    };
    const through = new Docker({ socketPath });
    const error = await errorOf(built({ Dockerfile: "FROM debian:bookworm-slim\nRUN sleep 602\n" }, { emit, engine: through }));
    expect(error.message).toBe(`the Docker Engine went away, asked to build ${ENTRY}`);
    expect(error.next).toBe(
      "start Docker, or set DOCKER_HOST; `agent-env doctor` says what is found; `--sandbox process` needs no Docker; then `agent-env gc`",
    );
    await until("the builder's containers are gone", 20_000, async () => {
      return (await docker.listContainers({ all: true })).every(({ Command }) => !Command.includes("sleep 602"));
    });
  });

  test("a step is run again when that is asked for, though the Engine holds its result", async () => {
    const files = { Dockerfile: "FROM debian:bookworm-slim\nRUN cat /proc/sys/kernel/random/uuid > /id\n" };
    const first = await built(files);
    expect((await built(files)).engineImageId).toBe(first.engineImageId);
    expect((await built(files, { isFresh: true })).engineImageId).not.toBe(first.engineImageId);
    await docker.getImage(first.engineImageId).remove({ force: true });
  });
});
