import { platformOf } from "../../images/platform.ts";
import { lookupHere } from "../../put/bundle-here.ts";
import { putOf } from "../../put/by-options.ts";
import { keyValues, putMetadata } from "../../put/metadata.ts";
import { agentEnvVersion } from "../../report/version.ts";
import { latestRecords, storedRecord } from "../../store/stored.ts";
import type { AddCommand } from "../cli.ts";
import { type CommonOptions, columns, printDocument } from "../io.ts";
import { numberIn } from "../numbers.ts";
import {
  addImageOptions,
  type ImageOptions,
  idHere,
  idsHere,
  imageContext,
  printRecord,
  repeatable,
  runPut,
  versionOption,
} from "../put.ts";
import { reading } from "../stores.ts";

type PutOptions = CommonOptions &
  ImageOptions & {
    readonly id: string;
    readonly envVar: string[];
    readonly metadata: string[];
    readonly minDiskSizeGb?: number;
    readonly defaultModel?: string;
  };

const WORDS = { default_env_vars: "--env-var", min_disk_size_gb: "--min-disk-size-gb", default_model: "--default-model" };

export const a2aAgentCommand: AddCommand = (parent, io) => {
  const agent = parent.command("a2a-agent").description("store agents without a bundle, and look at them");

  const put = addImageOptions(
    agent
      .command("put")
      .description("store a version of an agent; its image is built where it is first deployed")
      .requiredOption("--id <id>", "the agent's id: bare, @local/…, or in a bundle's folder an agent's name there"),
  );
  repeatable(put, "--env-var <key=value>", "a variable that it is always given (repeatable)");
  repeatable(put, "--metadata <key=value>", "what else the record is to say (repeatable)")
    .option("--min-disk-size-gb <n>", "the disk that it needs", numberIn(0, 1_048_576))
    .option("--default-model <name>", "the model that it uses where a step names none")
    .action(async (options: PutOptions) => {
      const context = imageContext(io, options);
      const metadata = await putMetadata({ version: agentEnvVersion(), source: context.disk, given: options.metadata });
      const config = {
        default_env_vars: keyValues("--env-var", options.envVar),
        metadata: {
          ...(options.defaultModel === undefined ? {} : { default_model: options.defaultModel }),
          ...(options.minDiskSizeGb === undefined ? {} : { min_disk_size_gb: options.minDiskSizeGb }),
        },
      };
      const platform = options.platform === undefined ? null : platformOf(options.platform, "--platform");
      const id = idHere(io, "agent", options.id);
      const contexts = new Map([["image", context]]);
      await runPut(io, options, {
        entity: (registry) =>
          putOf({ kind: "agent", type: "a2a_agent", id, config, contexts, platform, metadata }, registry, lookupHere([io.cwd])),
        words: WORDS,
        next: (written) => `agent-env a2a-agent get --id ${written}`,
      });
    });

  versionOption(
    agent.command("get").description("print what the store holds of an agent").requiredOption("--id <id>", "the agent's id, or its name"),
  ).action(async (options: CommonOptions & { id: string; version?: number }) => {
    const question = { kind: "agent", ids: idsHere(io, "agent", options.id), version: options.version ?? null } as const;
    const record = await reading(io, (store) => storedRecord(store, question));
    printRecord(io, options, record);
  });

  agent
    .command("list")
    .description("list the agents that are stored")
    .action(async (options: CommonOptions) => {
      const agents = await reading(io, (store) => latestRecords(store, "agent"));
      const rows = agents.map(({ id, version, type }) => [id, `v${version}`, type]);
      printDocument(io, options, { agents }, rows.length === 0 ? "no agent is stored" : columns([["AGENT", "LATEST", "TYPE"], ...rows]));
    });
};
