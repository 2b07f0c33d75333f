import type { Command } from "commander";
import { deployGateway, dryRun, type GatewayDeploy } from "../../edge/deploy.ts";
import { printable, setIn } from "../../report/printable.ts";
import { type CommonOptions, columns, type Io, printDocument, progressFor } from "../io.ts";

/** `gateway deploy`: exit code 1 with any problem. */
export function addGatewayDeploy(gateway: Command, io: Io, end: (exitCode: number) => void): void {
  gateway
    .command("deploy")
    .description("put the edge gateway on Cloudflare, after checking all that it needs")
    .option("--dry-run", "only say what would be deployed; asks nobody")
    .action(async (options: CommonOptions & { dryRun?: boolean }) => end(await deploy(options, io)));
}

async function deploy(options: CommonOptions & { dryRun?: boolean }, io: Io): Promise<number> {
  const isDry = options.dryRun === true;
  const reporter = progressFor(io, options);
  const onStep = (message: string): void => reporter.emit({ kind: "log", entry: "gateway", level: "info", message });
  const context = { settings: io.settings(), env: io.env, signal: io.signal, onStep };
  try {
    const done = isDry ? await dryRun(context) : await deployGateway(context);
    reporter.close();
    printDocument(io, options, documentOf(done, isDry), textOf(done, isDry));
    return done.problems.length === 0 ? 0 : 1;
  } finally {
    reporter.close();
  }
}

function documentOf(done: GatewayDeploy, isDry: boolean): Record<string, unknown> {
  const { worker, url, bundle, bindings, routes, variables, secrets, problems, isDeployed } = done;
  return {
    dry_run: isDry,
    deployed: isDeployed,
    worker,
    url,
    bundle: bundle === null ? null : { bytes: bundle.bytes, gzip_bytes: bundle.gzipBytes },
    bindings,
    routes,
    variables,
    secrets,
    problems,
  };
}

function textOf(
  { worker, url, bundle, bindings, routes, variables, secrets, problems, isDeployed }: GatewayDeploy,
  isDry: boolean,
): string {
  const list = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
  const size = bundle === null ? "not made" : `${Math.ceil(bundle.bytes / 1024)} KiB, ${Math.ceil(bundle.gzipBytes / 1024)} KiB with gzip`;
  const rows = [
    ["Worker", worker],
    ["address", url ?? "the account's workers.dev"],
    ["bundle", size],
    ...bindings.map(({ name, kind, resource }) => [name, `${kind} ${resource ?? "(not configured)"}`]),
    ["routes", list(routes)],
    ["variables", list(variables)],
    ...(isDry ? [] : [["secrets", list(secrets)]]),
  ];
  const told = problems.map(({ what, why, next }) => `${printable(what)}\n  ${setIn(why, "  ")}\n  Next: ${printable(next)}`);
  const count = `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
  const last = isDeployed ? "deployed" : isDry ? "a dry run: nothing was uploaded" : "nothing was uploaded";
  return [columns(rows), ...told, problems.length === 0 ? last : `${count}; ${last}`].join("\n");
}
