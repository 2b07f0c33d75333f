import { evalPut, evalTasks, storedTasks, withTasks } from "../../put/eval-file.ts";
import { storedRecord } from "../../store/stored.ts";
import type { AddCommand } from "../cli.ts";
import type { CommonOptions } from "../io.ts";
import { idHere, runPut } from "../put.ts";

const FILE = 'a JSON array: [{"task_id": "…", "task_version": 3}, …]; without a version it runs the latest';

export const evalCommand: AddCommand = (parent, io) => {
  const command = parent.command("eval").description("store lists of tasks without a bundle");

  command
    .command("create")
    .description("store an eval's next version over stored tasks")
    .argument("<file>", FILE)
    .requiredOption("--id <id>", "the eval's id: bare, @local/…, or in a bundle's folder an eval's name there")
    .action(async (file: string, options: CommonOptions & { id: string }) => {
      const id = idHere(io, "eval", options.id);
      await runPut(io, options, { entity: () => evalPut({ tasks: evalTasks(file, io.cwd), id, file, cwd: io.cwd }) });
    });

  command
    .command("add-tasks")
    .description("store a version of an eval with further tasks; one that is in it already takes the new entry's version")
    .argument("<file>", FILE)
    .requiredOption("--id <id>", "the id of a stored eval, or its name")
    .action(async (file: string, options: CommonOptions & { id: string }) => {
      const id = idHere(io, "eval", options.id);
      await runPut(io, options, {
        async entity(_registry, store) {
          const before = storedTasks(await storedRecord(store, { kind: "eval", ids: [id], version: null }));
          return evalPut({ tasks: withTasks(before, evalTasks(file, io.cwd)), id, file, cwd: io.cwd });
        },
      });
    });
};
