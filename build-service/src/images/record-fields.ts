import type { DockerImageRecord } from "@agent-env/protocol";
import { imageRepository } from "../bundle/ids.ts";
import { putBlob } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import type { ImageSource } from "./builder.ts";

/** What a docker_image's record says of its source. The context's tar is put into the store first. */
export async function imageRecordFields(
  id: string,
  source: ImageSource,
  { store, signal }: { readonly store: Store; readonly signal: AbortSignal },
): Promise<ImageRecordFields> {
  const url = await putBlob(store.of(id), await source.tar(signal));
  return {
    image_name: `${imageRepository(id)}:${source.digest.slice(0, 16)}`,
    dockerfile_path: source.dockerfile,
    platform: source.platform,
    source_digest: source.digest,
    build_context_object_url: url,
    build_context_s3_url: url,
    tar_gz_object_url: null,
  };
}

type ImageRecordFields = Pick<
  DockerImageRecord,
  | "image_name"
  | "dockerfile_path"
  | "platform"
  | "source_digest"
  | "build_context_object_url"
  | "build_context_s3_url"
  | "tar_gz_object_url"
>;
