import { DockerImageRecord } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { recordingBuilder } from "../../../test/fixtures/recording-builder.ts";
import { ensureBuilt } from "./ensure.ts";

test("an image whose build context the store has lost is refused before anything is built", async () => {
  const key = `blobs/sha256/${"0".repeat(64)}`;
  const record = DockerImageRecord.parse({
    ...{ id: "tool", version: 2, type: "docker_image", image_name: "local/tool:1", dockerfile_path: "Dockerfile", platform: null },
    ...{ source_digest: "0".repeat(64), build_context_object_url: `r2:${key}` },
  });
  const builder = recordingBuilder();
  const request = { store: memoryStore(), record, entry: "tool", builder, emit: () => {}, signal: new AbortController().signal };
  await expect(ensureBuilt(request)).rejects.toMatchObject({
    message: "tool v2: its build context is not in the store",
    why: `nothing is at ${key}`,
    next: "write the image anew: agent-env run <bundle> --rebuild",
  });
  expect(builder.built).toEqual([]);
});
