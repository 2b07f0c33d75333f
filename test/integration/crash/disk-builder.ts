import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageBuilder } from "../../../build-service/src/images/builder.ts";

/**
 * Stands for an Engine that several processes use, one after the other: what one has built, in `folder`, the next one holds.
 * It reads no Dockerfile and runs nothing; equal sources give equal images, as a full build cache does.
 */
export function diskBuilder(folder: string): ImageBuilder {
  mkdirSync(folder, { recursive: true });
  const fileOf = (engineImageId: string): string => join(folder, engineImageId.replace("sha256:", ""));
  return {
    async build({ sourceDigest }) {
      const engineImageId = `sha256:${createHash("sha256").update(sourceDigest).digest("hex")}`;
      writeFileSync(fileOf(engineImageId), sourceDigest);
      return { engineImageId, bases: { base: "sha256:1" }, log: `built ${sourceDigest}\n` };
    },
    fetchBase: async () => null,
    holds: async (engineImageId) => existsSync(fileOf(engineImageId)),
    platform: async () => "linux/amd64",
    idsOf: async (references) => Object.fromEntries(references.filter((name) => name === "base").map((name) => [name, "sha256:1"])),
  };
}
