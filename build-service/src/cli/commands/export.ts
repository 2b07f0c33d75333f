import { resolve } from "node:path";
import { lastSegment } from "@agent-env/protocol";
import type { Command } from "commander";
import { exportRecord } from "../../export/export-record.ts";
import { storedRecord } from "../../store/stored.ts";
import { type CommonOptions, type Io, printDocument } from "../io.ts";
import { idsHere, registryHere, versionOption } from "../put.ts";
import { reading } from "../stores.ts";

/** Adds what `env export` and `artifact get` do: a stored version as the folder that a bundle has for it (4-bundle §12). */
export function addExport(command: Command, io: Io, kind: "env" | "artifact"): void {
  versionOption(command)
    .option("--out <folder>", "where it is written; must not be there yet (a folder here, named as the id ends)")
    .action(async (asked: string, options: CommonOptions & { out?: string; version?: number }) => {
      const registry = await registryHere(io);
      const exported = await reading(io, async (store) => {
        const record = await storedRecord(store, { kind, ids: idsHere(io, kind, asked), version: options.version ?? null });
        return exportRecord(kind, record, resolve(io.cwd, options.out ?? lastSegment(record.id)), {
          store,
          registry,
          get signal() {
            return io.signal;
          },
        });
      });
      const { id, version, folder, left_out, changed } = exported;
      const lines = [
        `${id}: v${version} written to ${folder}`,
        ...left_out.map((what) => `left out: ${what}`),
        ...changed.map((what) => `a run of it writes an image anew: ${what}`),
      ];
      printDocument(io, options, exported, lines.join("\n"));
    });
}
