import { buffer } from "node:stream/consumers";
import { DockerImageRecord } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { ensureBuilt } from "../../build-service/src/images/ensure.ts";
import { readContext } from "../../build-service/src/images/stored-context.ts";
import { imageBuilder } from "../../build-service/src/infra/builder.ts";
import { lookupHere } from "../../build-service/src/put/bundle-here.ts";
import { putOf } from "../../build-service/src/put/by-options.ts";
import { openContext } from "../../build-service/src/put/context-folder.ts";
import { checkPut, writePut } from "../../build-service/src/put/put-entity.ts";
import { BUILT_IN } from "../../build-service/src/types/registry.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { docker, noEngine, testBed } from "./support.ts";

test.skipIf(noEngine)("an image that is put holds the links and empty folders of its folder", async () => {
  await using place = await testBed();
  const { store, emit, signal } = place;
  using folder = temporaryFolder({
    "x/Dockerfile": "FROM scratch\nCOPY content /content\n",
    "x/content/data/seed.json": `${Math.random()}\n`,
    "x/content/latest": ["data/seed.json"],
    "x/content/empty/": "",
  });
  const options = { dockerfile: "--dockerfile", context: "--context" };
  const contexts = new Map([["image", openContext({ dockerfile: "x/Dockerfile", context: undefined }, folder.path, options)]]);
  const request = { kind: "artifact", type: "docker_image", id: "test/put", config: {}, contexts, platform: null, metadata: {} } as const;
  const context = { store, registry: BUILT_IN, emit, signal, owner: "a test" };
  const [written] = await writePut(await checkPut(putOf(request, BUILT_IN, lookupHere([])), context), context);
  const record = DockerImageRecord.parse(written?.record);

  const { engineImageId } = await ensureBuilt({ store, record, entry: record.id, builder: imageBuilder(), emit, signal });
  try {
    const container = await docker.createContainer({ Image: engineImageId, Cmd: ["none"] });
    try {
      const tar = await buffer(await container.getArchive({ path: "/content" }));
      const held = (await readContext(tar)).map((entry) => [entry.kind, entry.path, entry.kind === "link" ? entry.target : ""]);
      expect(held.sort()).toEqual([
        ["file", "content/data/seed.json", ""],
        ["folder", "content", ""],
        ["folder", "content/data", ""],
        ["folder", "content/empty", ""],
        ["link", "content/latest", "data/seed.json"],
      ]);
    } finally {
      await container.remove({ force: true });
    }
  } finally {
    await docker.getImage(engineImageId).remove({ force: true });
  }
});
