import { Refused } from "@agent-env/protocol";
import type { PutEntity } from "../../put/put-entity.ts";
import { canBeSaved, checkTaskPut, taskFile } from "../../put/task-file.ts";
import { chooseSandbox } from "../../run/choose-sandbox.ts";
import type { Store } from "../../store/store.ts";
import { storedRecord } from "../../store/stored.ts";
import type { Registry } from "../../types/registry.ts";
import type { AddCommand } from "../cli.ts";
import { type CommonOptions, type Io, printDocument } from "../io.ts";
import { idHere, idsHere, printRecord, registryHere, runPut, versionOption } from "../put.ts";
import { reading } from "../stores.ts";

export const taskCommand: AddCommand = (parent, io) => {
  const task = parent.command("task").description("store tasks without a bundle, and look at them");

  task
    .command("create")
    .description("store a task's next version, checked as a run would")
    .argument("<file>", "a task as a bundle has it under tasks/: a JSON array of steps")
    .requiredOption("--id <id>", "the task's id: bare, @local/…, or in a bundle's folder a task's name there")
    .option("--skip-validation", "save it in spite of what the store or this machine lacks, which is printed")
    .action(async (file: string, options: CommonOptions & { id: string; skipValidation?: boolean }) => {
      const id = idHere(io, "task", options.id);
      await runPut(io, options, {
        entity: (registry) => taskFile({ file, id, cwd: io.cwd }, registry),
        check: checker(io),
        ...(options.skipValidation ? { tolerates: canBeSaved } : {}),
        next: (written) => `agent-env task get --id ${written}`,
      });
    });

  task
    .command("validate")
    .description("say what is wrong with a task, by itself, by what is stored, and where its envs would be deployed")
    .argument("<file>", "a JSON array of steps")
    .action(async (file: string, options: CommonOptions) => {
      const registry = await registryHere(io);
      const put = taskFile({ file, id: VALIDATED, cwd: io.cwd }, registry);
      const { problems, checked } = await reading(io, (store) => checker(io)(put, { store, registry }));
      if (problems.length > 0) throw new Refused(problems);
      const { warnings } = checked;
      const lines = [...warnings.map(({ path, message }) => `warning: ${path}: ${message}`), `${file}: no problems`];
      printDocument(io, options, { file, problems, warnings }, lines.join("\n"));
    });

  versionOption(
    task.command("get").description("print what the store holds of a task").requiredOption("--id <id>", "the task's id, or its name"),
  ).action(async (options: CommonOptions & { id: string; version?: number }) => {
    const question = { kind: "task", ids: idsHere(io, "task", options.id), version: options.version ?? null } as const;
    const record = await reading(io, (store) => storedRecord(store, question));
    printRecord(io, options, record);
  });
};

/** A task that is only validated has no id yet; under this one it may reference anything. */
const VALIDATED = "@local/validated/task";

/** Judges a task as `run` would with the options that the configuration gives. */
function checker(io: Io) {
  return async (put: PutEntity, { store, registry }: { readonly store: Store; readonly registry: Registry }) => {
    const settings = io.settings();
    const plugins = await io.loadedPlugins();
    const sandbox = await chooseSandbox({ option: null, setting: settings.sandbox().default }, plugins.sandboxes);
    const { mode: gateway, auth } = settings.gateway();
    const gatewayEnvId = settings.envs().default_gateway_env_id;
    return checkTaskPut(put, { store, registry, plugins, sandbox, gateway, auth, gatewayEnvId, python: settings.verifiers().python });
  };
}
