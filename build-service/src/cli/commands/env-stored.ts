import type { Command } from "commander";
import { versionHistory } from "../../bundle/history.ts";
import { storedRecord } from "../../store/stored.ts";
import { type CommonOptions, columns, type Io, printDocument } from "../io.ts";
import { idsHere, printRecord, versionOption } from "../put.ts";
import { reading } from "../stores.ts";
import { addExport } from "./export.ts";

const ID = "the env's id, or in a bundle's folder its name there";

/** `env show|history|export` (5-run §14): what the store holds of an env. */
export function addStoredEnvs(env: Command, io: Io): void {
  versionOption(env.command("show").description("print what the store holds of an env").argument("<id>", ID)).action(
    async (asked: string, options: CommonOptions & { version?: number }) => {
      const question = { kind: "env", ids: idsHere(io, "env", asked), version: options.version ?? null } as const;
      const record = await reading(io, (store) => storedRecord(store, question));
      printRecord(io, options, record);
    },
  );

  env
    .command("history")
    .description("list an env's versions: when, by which bundle or put, and why")
    .argument("<id>", ID)
    .action(async (asked: string, options: CommonOptions) => {
      const found = await reading(io, async (store) => {
        const { id } = await storedRecord(store, { kind: "env", ids: idsHere(io, "env", asked), version: null });
        return { id, versions: await versionHistory(store, "env", id) };
      });
      const rows = found.versions.map(({ version, at, bundle, reasons }) => [`v${version}`, at ?? "", bundle ?? "", reasons.join("; ")]);
      printDocument(io, options, found, columns([["VERSION", "WHEN", "BUNDLE", "WHY"], ...rows]));
    });

  addExport(env.command("export").description("write an env as a folder that a bundle can hold").argument("<id>", ID), io, "env");
}
