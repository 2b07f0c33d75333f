import { artifactFolder } from "../../put/artifact-folder.ts";
import type { AddCommand } from "../cli.ts";
import type { CommonOptions } from "../io.ts";
import { idHere, runPut } from "../put.ts";
import { addExport } from "./export.ts";

export const artifactCommand: AddCommand = (parent, io) => {
  const artifact = parent.command("artifact").description("store files, data and skills without a bundle, and get them back");

  artifact
    .command("put")
    .description("store a folder's content as an artifact's next version")
    .argument("<folder>", "a folder as a bundle has it under artifacts/ or skills/")
    .requiredOption("--id <id>", "the artifact's id: bare, @local/…, or in a bundle's folder an artifact's name there")
    .action(async (folder: string, options: CommonOptions & { id: string }) => {
      const id = idHere(io, "artifact", options.id);
      await runPut(io, options, {
        entity: (registry) => artifactFolder({ folder, id, cwd: io.cwd }, registry),
        next: (written) => `agent-env artifact get ${written} --out FOLDER`,
      });
    });

  const get = artifact.command("get").description("write a stored artifact as a folder").argument("<id>", "the artifact's id, or its name");
  addExport(get, io, "artifact");
};
