import { relative } from "node:path";
import { Refused, UserError } from "@agent-env/protocol";
import { type Command, Option } from "commander";
import type { Settings } from "../../config/settings.ts";
import { gatewaySettings } from "../../deploy/gateway-settings.ts";
import { platformOf } from "../../images/platform.ts";
import { gatewayToWrite } from "../../infra/gateway-image.ts";
import type { Emit } from "../../report/events.ts";
import { SANDBOX_HELP } from "../../run/choose-sandbox.ts";
import { dryRunResult, dryRunText, setUpLines } from "../../run/dry-run.ts";
import { basesToFetch } from "../../run/fetch-bases.ts";
import { findBundle, installedBundles } from "../../run/find-bundle.ts";
import { type KeptUp, planRun, type RunRequest, runBundle } from "../../run/run.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import { summaryText, tasksText } from "../../run/summary.ts";
import { openStore, recordsSetting } from "../../store/open.ts";
import type { AddCommand } from "../cli.ts";
import { failureLine } from "../failure.ts";
import { type CommonOptions, columns, type Io, reporterFor } from "../io.ts";
import { numberIn, wholeNumberIn } from "../numbers.ts";

export type RunOptions = CommonOptions & {
  readonly task: string[];
  readonly eval: string[];
  readonly sandbox?: string;
  readonly gateway?: "container" | "edge";
  readonly rebuild?: string[] | true;
  readonly pull?: boolean;
  readonly lock?: boolean;
  readonly platform?: string;
  readonly concurrency?: number;
  readonly minScore?: number;
  readonly keep?: boolean;
  readonly dryRun?: boolean;
};

export const runCommand: AddCommand = (parent, io, end) => {
  addRunOptions(
    parent
      .command("run")
      .description("run a bundle: build it, write it, deploy its envs, run its tasks, take everything down")
      .argument("[bundle]", "a folder, or the name of an installed bundle"),
  )
    .option("--dry-run", "say what it would do; write nothing")
    .option("--keep", "leave everything up when the tasks have ended, until Ctrl-C")
    .option("--min-score <x>", "exit code 1 when a task scores less, or not at all", numberIn(0, 1))
    .option("--concurrency <n>", "tasks at once (4, or [run] concurrency)", wholeNumberIn(1, 1000))
    .action(async (bundle: string | undefined, options: RunOptions) => {
      if (bundle !== undefined) return end(await runOrPlan(bundle, options, io));
      const names = installedBundles(await io.plugins()).map((one) => one.asked);
      io.out.write(
        options.json
          ? `${JSON.stringify({ format_version: 1, bundles: names })}\n`
          : `installed bundles: ${names.join(", ")}\nrun one of them, or a folder: agent-env run <bundle>\n`,
      );
    });
};

/** Options that `run` and `bundle plan` share. */
export function addRunOptions(command: Command): Command {
  const collect = (value: string, earlier: string[]) => [...earlier, value];
  return command
    .addOption(
      new Option("--task <name>", "only this task (repeatable)")
        .argParser(collect)
        .default([], "those that an eval names, or all where there is no eval"),
    )
    .addOption(new Option("--eval <name>", "only this eval (repeatable)").argParser(collect).default([], "all"))
    .option("--rebuild [entry...]", "write images anew, without the build cache: all, or those of these entries")
    .option("--pull", "fetch base images first")
    .option("--lock", "with --pull: fix what it fetches in the bundle's agent-env.lock")
    .option("--platform <platform>", "what images are built for, as linux/amd64 (the Docker Engine's own, or [build] platform)")
    .option("--sandbox <name>", SANDBOX_HELP)
    .addOption(
      new Option(
        "--gateway <where>",
        "a gateway of its own for each deployment, or the edge gateway (container, or [gateway] mode)",
      ).choices(["container", "edge"]),
    );
}

/** Runs the bundle, or says what a run would do. Gives the exit code. */
export async function runOrPlan(asked: string, options: RunOptions, io: Io): Promise<number> {
  const reporter = reporterFor(io, options);
  try {
    const request = await requestOf(asked, options, io, reporter.emit);
    return options.dryRun ? await plan(request, options, io) : await run(request, options, io, asked);
  } catch (error) {
    if (!options.json) throw error;
    if (error instanceof Refused) for (const problem of error.problems) reporter.emit({ kind: "problem", problem });
    const { line, exitCode } = failureLine(error, io);
    io.out.write(line);
    return exitCode;
  } finally {
    reporter.close();
  }
}

async function requestOf(asked: string, options: RunOptions, io: Io, emit: Emit): Promise<RunRequest> {
  const settings = io.settings();
  return {
    bundle: findBundle(asked, io.cwd, await io.plugins()),
    plugins: await io.loadedPlugins(),
    stateDir: stateDirOf(io.env),
    tasks: options.task,
    evals: options.eval,
    settings,
    sandbox: { option: options.sandbox ?? null, setting: settings.sandbox().default },
    gateway: options.gateway ?? settings.gateway().mode,
    auth: settings.gateway().auth,
    gatewaySettings: gatewaySettings(io.env),
    images: imageOptions(options, settings),
    concurrency: options.concurrency ?? settings.run().concurrency,
    minScore: options.minScore ?? null,
    keep: options.keep ? (kept) => showKept(kept, options, io) : null,
    emit,
    // Read only by what has something to take down: what plans is ended at once.
    get signal() {
      return io.signal;
    },
  };
}

function imageOptions({ rebuild, pull = false, lock = false, platform }: RunOptions, settings: Settings): RunRequest["images"] {
  if (lock && !pull) {
    throw new UserError({
      what: "--lock: --pull is missing",
      why: "it fixes what --pull fetches",
      next: "give both: --pull --lock",
      exitCode: 2,
    });
  }
  const setting = settings.build().platform;
  const named =
    platform !== undefined ? platformOf(platform, "--platform") : setting === undefined ? null : platformOf(setting, "[build] platform");
  return { rebuild: rebuild === true ? "all" : (rebuild ?? []), pull, lock, platform: named };
}

async function plan(request: RunRequest, options: RunOptions, io: Io): Promise<number> {
  const store = await openStore(recordsSetting(request.settings), request.stateDir, "read");
  try {
    const planned = await planRun(request, store);
    const gateway = planned.needsGatewayImage
      ? await gatewayToWrite({ store, gatewayEnvId: request.settings.envs().default_gateway_env_id })
      : null;
    const bases = planned.builder !== null && request.images.pull ? basesToFetch(planned.plan, request.images) : [];
    const setUpFirst = setUpLines(gateway, bases);
    if (!options.json) {
      io.out.write(`${dryRunText(planned, setUpFirst)}\n`);
      return 0;
    }
    for (const { entry, version, reasons } of planned.plan.writes) {
      request.emit({ kind: "plan", entry, version, reasons, message: reasons.length === 0 ? "unchanged" : reasons.join("; ") });
    }
    const result = { at: new Date().toISOString(), kind: "result", format_version: 1, exit_code: 0, ...dryRunResult(planned, setUpFirst) };
    io.out.write(`${JSON.stringify(result)}\n`);
    return 0;
  } finally {
    await store.close();
  }
}

async function run(request: RunRequest, options: RunOptions, io: Io, asked: string): Promise<number> {
  const { result, path } = await runBundle(request);
  if (options.json) io.out.write(`${JSON.stringify({ at: result.ended_at, kind: "result", ...result })}\n`);
  else {
    io.out.write(`${summaryText(result, shownPath(io.cwd, path))}\n`);
    if (request.bundle.installed !== null && result.exit_code === 0) io.out.write(`${whatNext(asked)}\n`);
  }
  return result.exit_code;
}

/** As a person would name the file from here. */
function shownPath(cwd: string, path: string): string {
  const fromHere = relative(cwd, path);
  return fromHere.startsWith("..") ? path : fromHere;
}

/** Prints how the tasks ended and where everything is, and waits for Ctrl-C. */
async function showKept({ tasks, deployments }: KeptUp, options: RunOptions, io: Io): Promise<void> {
  const records = deployments.map(({ record }) => record);
  if (options.json) {
    const addresses = records.map(({ env_id, deployment_id, mcp_url, website_frontend_urls, expires_at_utc }) => {
      return { env_id, deployment_id, mcp_url, website_frontend_urls, expires_at_utc };
    });
    io.out.write(`${JSON.stringify({ at: new Date().toISOString(), kind: "kept", tasks, deployments: addresses })}\n`);
  } else {
    const rows = records.flatMap((record) => [
      [record.env_id ?? "", record.deployment_id ?? "", `until ${record.expires_at_utc ?? ""}`],
      ["  MCP", record.mcp_url ?? "", ""],
      ...Object.entries(record.website_frontend_urls).map(([site, url]) => [`  site ${site}`, url, ""]),
    ]);
    io.out.write(`\n${tasksText(tasks)}\n\n${columns(rows)}\nEverything stays up until Ctrl-C.\n`);
  }
  if (io.signal.aborted) return;
  await new Promise((resolve) => io.signal.addEventListener("abort", resolve, { once: true }));
}

function whatNext(asked: string): string {
  return [
    "",
    "Next:",
    `  npx agent-env run ${asked} --keep            keep it up and open its pages`,
    "  npx agent-env doctor                       what this machine has: Docker, Python",
    "  npx agent-env run examples/suite           six tasks in containers, from a checkout",
  ].join("\n");
}
