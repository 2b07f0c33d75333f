import { Refused } from "@agent-env/protocol";
import { checkBundle } from "../../bundle/check.ts";
import type { StoreName } from "../../bundle/store-names.ts";
import type { AddCommand } from "../cli.ts";
import { printDocument } from "../io.ts";
import { addRunOptions, type RunOptions, runOrPlan } from "./run.ts";

export const bundleCommand: AddCommand = (parent, io, end) => {
  const bundle = parent.command("bundle").description("read a folder without running it");

  bundle
    .command("check")
    .description("report everything that is wrong with a bundle and needs no store and no Docker")
    .argument("<folder>", "the bundle")
    .action(async (folder: string, options: { json?: boolean }) => {
      const {
        bundle: checked,
        problems,
        warnings,
        storeNames,
      } = await checkBundle(folder, { registry: (await io.loadedPlugins()).registry });
      const notes = storeNames.map(storeNameLine);
      if (!options.json && problems.length > 0) {
        for (const note of notes) io.out.write(`${note}\n`);
        throw new Refused(problems);
      }
      const count = checked?.entries.length ?? 0;
      const entries = count === 1 ? "1 entry" : `${count} entries`;
      const lines = [
        ...warnings.map(({ path, message }) => `warning: ${path}: ${message}`),
        `${folder}: ${entries}, no problems`,
        ...notes,
      ];
      const document = { bundle: checked?.idRoot ?? null, problems, warnings, store_names: storeNames };
      printDocument(io, options, document, lines.join("\n"));
      end(problems.length > 0 ? 1 : 0);
    });

  addRunOptions(
    bundle.command("plan").description("say what a run would build, write and start; write nothing").argument("<folder>", "the bundle"),
  ).action(async (folder: string, options: RunOptions) => end(await runOrPlan(folder, { ...options, dryRun: true }, io)));
};

function storeNameLine({ path, kind, id, near }: StoreName): string {
  const probably = near === null ? "" : ` (probably ${JSON.stringify(near)})`;
  return `${path}: not in this bundle, looked up in the store when it runs: ${kind} ${JSON.stringify(id)}${probably}`;
}
