import { platformOf } from "../../images/platform.ts";
import { lookupHere } from "../../put/bundle-here.ts";
import { putOf } from "../../put/by-options.ts";
import type { AddCommand } from "../cli.ts";
import type { CommonOptions } from "../io.ts";
import { addImageOptions, type ImageOptions, idHere, imageContext, runPut } from "../put.ts";

export const imageCommand: AddCommand = (parent, io) => {
  const image = parent.command("image").description("store images without a bundle");

  addImageOptions(
    image
      .command("put")
      .description("store an image's source as its next version; it is built where it is first deployed")
      .requiredOption("--id <id>", "the image's id: bare, @local/…, or in a bundle's folder an image's name there"),
  ).action(async (options: CommonOptions & ImageOptions & { id: string }) => {
    const contexts = new Map([["image", imageContext(io, options)]]);
    const platform = options.platform === undefined ? null : platformOf(options.platform, "--platform");
    const id = idHere(io, "artifact", options.id);
    const request = { kind: "artifact", type: "docker_image", id, config: {}, contexts, platform, metadata: {} } as const;
    await runPut(io, options, {
      entity: (registry) => putOf(request, registry, lookupHere([io.cwd])),
      next: (written) => `name it in an env.toml: image = "${written}"`,
    });
  });
};
