import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import {
  isAtLeast,
  Refused,
  SITE_VERDICTS,
  type SiteMode,
  type SiteReport,
  type SiteVerdict,
  UserError,
  worstVerdict,
} from "@agent-env/protocol";
import { Option } from "commander";
import { parseActs } from "../../check-site/act-script.ts";
import { reportPage } from "../../check-site/report-page.ts";
import { reportText } from "../../check-site/report-text.ts";
import { type CheckRequest, earlierReport, runCheck } from "../../check-site/run-check.ts";
import { deployedTarget, type Target, targetAt } from "../../check-site/targets.ts";
import type { DeployableEnv, DeployContext } from "../../deploy/deployment.ts";
import { loadDeployableEnv } from "../../deploy/env.ts";
import { chooseSandbox, SANDBOX_HELP } from "../../run/choose-sandbox.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import { openStore, recordsSetting } from "../../store/open.ts";
import { holdRun, newRunId } from "../../store/run-lock.ts";
import { storedRecord } from "../../store/stored.ts";
import type { AddCommand } from "../cli.ts";
import { deployContext } from "../deploy-context.ts";
import { type CommonOptions, type Io, printDocument, progressFor } from "../io.ts";
import { wholeNumberIn } from "../numbers.ts";
import { idsHere, versionOption } from "../put.ts";

const PAGES = 30;

type Options = CommonOptions & {
  readonly mode: SiteMode | "both";
  readonly act?: string;
  readonly pages: number;
  readonly require?: SiteVerdict;
  readonly version?: number;
  readonly sandbox?: string;
  readonly gateway?: "container" | "edge";
  readonly again?: boolean;
  readonly output?: string;
};

export const checkSiteCommand: AddCommand = (parent, io, end) => {
  versionOption(parent.command("check-site"))
    .description("walk a website in Chromium, on a host of its own and under a prefix, and say which of these it survives")
    .argument("<env or URL>", "the id of a stored env, in a bundle's folder its name there; or the address of a site that runs")
    .addOption(new Option("--mode <mode>", "how it is opened").choices(["host", "prefix", "both"]).default("both"))
    .option("--act <file>", "what is done before the walk, a line each: goto, click, fill, press, wait")
    .option("--pages <n>", "pages to open at most", wholeNumberIn(1, 1_000), PAGES)
    .addOption(new Option("--require <verdict>", "exit code 1 below this (host-only)").choices(SITE_VERDICTS))
    .option("--again", "check it also where its images have not changed since the last time")
    .option("--output <folder>", "write site.json and site.html there")
    .option("--sandbox <name>", SANDBOX_HELP)
    .addOption(new Option("--gateway <where>", "container (one of its own) or edge; else [gateway] mode").choices(["container", "edge"]))
    .action(async (asked: string, options: Options) => end(await check(asked, options, io)));
};

/** Gives the exit code (7-sites §6). */
async function check(asked: string, options: Options, io: Io): Promise<number> {
  const request = await requestOf(options, io);
  const reporter = progressFor(io, options);
  const stateDir = stateDirOf(io.env);
  const plugins = await io.loadedPlugins();
  const store = await openStore(recordsSetting(io.settings()), stateDir, "write");
  const owner = newRunId(new Date());
  const held = holdRun(stateDir, owner);
  try {
    const context = deployContext(io, { store, emit: reporter.emit, plugins });
    const { open, env } = await askedTarget(asked, options, { io, owner, context });
    const earlier = env === null || options.again ? null : await earlierReport(env, request, context);
    if (earlier !== null) {
      reporter.close();
      const said = `checked ${earlier.checked_at} with the same images and options; --again checks it anew`;
      return await finish(io, options, { report: earlier, page: reportPage(earlier), said, leftUp: [] });
    }
    const result = await runCheck(open, request, context);
    reporter.close();
    const isStored = result.report.env !== null && options.mode === "both";
    return await finish(io, options, { ...result, said: isStored ? `stored beside the record of ${asked}` : null });
  } finally {
    reporter.close();
    await held.release();
    await store.close();
  }
}

type Finished = {
  readonly report: SiteReport;
  readonly page: string;
  readonly said: string | null;
  readonly leftUp: readonly { readonly kind: string; readonly name: string; readonly reason: string }[];
};

async function finish(io: Io, options: Options, { report, page, said, leftUp }: Finished): Promise<number> {
  const lines = [reportText(report), ...(said === null ? [] : [said])];
  if (options.output !== undefined) {
    const folder = resolve(io.cwd, options.output);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "site.json"), `${JSON.stringify(report, null, 2)}\n`);
    await writeFile(join(folder, "site.html"), page);
    lines.push(`report: ${join(relative(io.cwd, folder) || ".", "site.html")}`);
  }
  for (const { kind, name, reason } of leftUp) lines.push(`still up: ${kind} ${name}: ${reason}`);
  printDocument(io, options, report, lines.join("\n"));
  if (leftUp.length > 0) return 1;
  const verdict = worstVerdict(report.sites);
  if (verdict === null) return report.sites.some(({ findings }) => findings.length > 0) ? 1 : 0;
  return isAtLeast(verdict, options.require ?? "host-only") ? 0 : 1;
}

async function requestOf({ mode, act, pages, require: required }: Options, io: Io): Promise<CheckRequest> {
  if (required !== undefined && mode !== "both") {
    throw new UserError({
      what: `--require: it can't go with --mode ${mode}`,
      why: "a verdict compares both modes",
      next: "leave one of them out",
      exitCode: 2,
    });
  }
  const text = act === undefined ? null : await actText(act, io.cwd);
  const read = act === undefined || text === null ? null : parseActs(text, act);
  if (read !== null && read.problems.length > 0) throw new Refused(read.problems);
  const acts = act === undefined || text === null || read === null ? null : { file: act, text, acts: read.acts };
  return { mode, acts, mostPages: pages, env: io.env };
}

async function actText(file: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UserError(
      { what: `--act: ${JSON.stringify(file)} can't be read`, why, next: "name a file of acts", exitCode: 2 },
      { cause: error },
    );
  }
}

type Around = { readonly io: Io; readonly owner: string; readonly context: DeployContext };

/** What is asked for, and how it is brought up: an address by itself, or a stored env. */
async function askedTarget(
  asked: string,
  { version = null, sandbox = null, gateway }: Omit<Options, "version" | "sandbox"> & { version?: number | null; sandbox?: string | null },
  { io, owner, context }: Around,
): Promise<{ readonly env: DeployableEnv | null; open(): Promise<Target> }> {
  const url = /^https?:\/\//i.test(asked) ? URL.parse(asked) : null;
  if (url !== null) return { env: null, open: () => targetAt(url, owner, context) };
  const { store, plugins } = context;
  const { id } = await storedRecord(store, { kind: "env", ids: idsHere(io, "env", asked), version });
  const env = await loadDeployableEnv(store, plugins.registry, { id, version });
  return {
    env,
    async open() {
      const { chain } = await chooseSandbox({ option: sandbox, setting: io.settings().sandbox().default }, plugins.sandboxes);
      return deployedTarget(env, { chain, owner, gateway: gateway ?? io.settings().gateway().mode }, context);
    },
  };
}
