import { stateDirOf } from "../../run/state-dir.ts";
import { openStore, recordsSetting } from "../../store/open.ts";
import { initRemote } from "../../store/remote/init.ts";
import { bucketName } from "../../store/remote/setting.ts";
import { type SyncResult, syncProjections } from "../../store/sync.ts";
import type { AddCommand } from "../cli.ts";
import { type CommonOptions, type Io, printDocument, progressFor } from "../io.ts";

export const storeCommand: AddCommand = (parent, io) => {
  const store = parent.command("store").description("where records are kept: set it up, rebuild what the edge sees");

  store
    .command("init")
    .description("make the bucket and the namespace of [stores] records, or say what to click")
    .action((options: CommonOptions) => init(options, io));

  store
    .command("sync")
    .description("rebuild KV, which the edge reads, from R2")
    .option("--dry-run", "only say what differs")
    .action((options: CommonOptions & { dryRun?: boolean }) => sync(options, io));
};

async function init(options: CommonOptions, io: Io): Promise<void> {
  const records = recordsSetting(io.settings());
  if (records.kind === "local") {
    const stateDir = stateDirOf(io.env);
    const text = `${stateDir}: records are kept there, which needs nothing: it is made at the first write`;
    return printDocument(io, options, { records: "local", state_dir: stateDir }, text);
  }
  const { bucket, namespace } = await initRemote(records);
  const lines = [
    `${bucketName(records)}: ${bucket.made ? "made" : "is there"}`,
    `KV namespace ${namespace.id}: ${namespace.made ? "made" : "is there"}`,
    ...(records.kvNamespaceId === namespace.id
      ? []
      : [`Next: write into [stores] records: kv_namespace_id = ${JSON.stringify(namespace.id)}`]),
  ];
  printDocument(io, options, { records: "cloudflare", bucket, kv_namespace: namespace }, lines.join("\n"));
}

async function sync(options: CommonOptions & { dryRun?: boolean }, io: Io): Promise<void> {
  const isDry = options.dryRun === true;
  const records = recordsSetting(io.settings());
  const store = await openStore(records, stateDirOf(io.env), "read");
  const reporter = progressFor(io, options);
  try {
    const sides = [
      { name: "local", side: store.local },
      ...(records.kind === "cloudflare" ? [{ name: "cloudflare", side: store.configured }] : []),
    ];
    const stores: ({ readonly store: string } & SyncResult)[] = [];
    for (const { name, side } of sides) {
      const onStep = (message: string): void => reporter.emit({ kind: "log", entry: name, level: "info", message });
      stores.push({ store: name, ...(await syncProjections(side, { write: !isDry, onStep })) });
    }
    reporter.close();
    printDocument(io, options, { dry_run: isDry, stores }, stores.flatMap(linesOf).join("\n"));
  } finally {
    reporter.close();
    await store.close();
  }
}

function linesOf({ store, added, corrected, removed, unchanged }: { readonly store: string } & SyncResult): string[] {
  return [
    ...added.map((key) => `${store}: ${key}: added`),
    ...corrected.map((key) => `${store}: ${key}: corrected`),
    ...removed.map((key) => `${store}: ${key}: removed`),
    `${store}: ${added.length} added, ${corrected.length} corrected, ${removed.length} removed, ${unchanged} as they were`,
  ];
}
