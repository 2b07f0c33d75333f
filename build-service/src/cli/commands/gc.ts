import { removeLeftovers, survey } from "../../deploy/gc.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import { openStore, recordsSetting } from "../../store/open.ts";
import type { AddCommand } from "../cli.ts";
import { printDocument, progressFor } from "../io.ts";

/** Lists what is left over on this machine, and removes it. Exit code 1 when something could not be removed. */
export const gcCommand: AddCommand = (parent, io, end) => {
  parent
    .command("gc")
    .description("remove containers, networks, processes, folders and keys of ours that are expired or whose run has ended")
    .option("--dry-run", "list them only")
    .action(async (options: { dryRun?: boolean; json?: boolean }) => {
      const stateDir = stateDirOf(io.env);
      const store = await openStore(recordsSetting(io.settings()), stateDir, "read");
      const reporter = progressFor(io, options);
      try {
        const context = { store, stateDir, emit: reporter.emit, plugins: await io.loadedPlugins() };
        const { keys, outOfReach, ...surveyed } = await survey(context);
        const found = [...surveyed.found, ...keys];
        const left = options.dryRun ? [] : await removeLeftovers(found, context);
        reporter.close();
        const lines = [
          ...found.map(({ kind, name, reason }) => `${kind} ${name}: ${reason}`),
          ...left.map(({ kind, name, reason }) => `still there: ${kind} ${name}: ${reason}`),
          ...outOfReach.map(({ deploymentId, sandbox, reason, why }) => `out of reach: ${deploymentId} on ${sandbox}: ${reason}; ${why}`),
          found.length === 0
            ? "nothing is left over"
            : options.dryRun
              ? `${found.length} left over: agent-env gc removes them`
              : `removed ${found.length - left.length} of ${found.length}`,
        ];
        printDocument(io, options, { dry_run: options.dryRun === true, found, left, out_of_reach: outOfReach }, lines.join("\n"));
        end(left.length > 0 || (outOfReach.length > 0 && !options.dryRun) ? 1 : 0);
      } finally {
        reporter.close();
        await store.close();
      }
    });
};
