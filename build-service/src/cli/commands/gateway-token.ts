import { randomBytes } from "node:crypto";
import { type DeploymentRecord, PRESETS, type Preset, tokenRoleProblem, UserError } from "@agent-env/protocol";
import { type Command, Option } from "commander";
import { getDeployment } from "../../deploy/list.ts";
import { mintToken, pageLink } from "../../deploy/tokens.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import { type CommonOptions, type Io, printDocument } from "../io.ts";
import { wholeNumberIn } from "../numbers.ts";
import { reading } from "../stores.ts";

const LONGEST_TTL_S = 1_209_600;

type Options = CommonOptions & {
  readonly deployment: string;
  readonly preset?: Preset;
  readonly role: string;
  readonly caller?: string;
  readonly ttl?: number;
  readonly page?: string;
};

/** `gateway token`: a token for a caller of a deployment, or a link that opens a site in a browser. */
export function addGatewayToken(gateway: Command, io: Io): void {
  gateway
    .command("token")
    .description("print a token for a caller of a deployment, or a link to a site of it")
    .requiredOption("--deployment <id>", "deployment id or instance id")
    .addOption(new Option("--preset <name>", "what its caller may do (agent)").choices(Object.keys(PRESETS)))
    .option("--role <role>", "the role in which it calls", "default")
    .option("--caller <name>", "its name: tokens of one caller and role share their sessions (drawn anew)")
    .option("--ttl <seconds>", "how long it is good for, at most as long as the deployment lives (3600)", wholeNumberIn(1, LONGEST_TTL_S))
    .option("--page <site>", "print a link that opens this site's pages, once, within five minutes")
    .action(async (options: Options) => {
      refuseOptions(options);
      const record = await reading(io, (store) => getDeployment(store, options.deployment));
      refuseDeployment(options.deployment, record);
      await print(record, options, io);
    });
}

async function print(record: DeploymentRecord, options: Options, io: Io): Promise<void> {
  const { preset = "agent", role, ttl: ttlSeconds = 3_600, page } = options;
  const caller = options.caller ?? `${page === undefined ? preset : "page"}-${randomBytes(6).toString("hex")}`;
  const stateDir = stateDirOf(io.env);
  const deployment = record.deployment_id;
  if (page !== undefined) {
    const { url, expiresAt } = await pageLink(stateDir, record, { site: page, role, caller });
    printDocument(io, options, { deployment, site: page, url, role, expires_at: expiresAt?.toISOString() ?? null }, url);
    return;
  }
  const { token, expiresAt } = await mintToken(stateDir, record, { preset, role, caller, ttlSeconds });
  const scopes = PRESETS[preset];
  printDocument(io, options, { deployment, token, preset, scopes, role, caller, expires_at: expiresAt.toISOString() }, token);
}

function refuseOptions({ role, page, preset, ttl }: Options): void {
  const problem = tokenRoleProblem(role);
  if (problem !== null) throw refused(`--role: ${JSON.stringify(role)} is no role of a token`, problem, "give another role");
  const idle = [...(preset === undefined ? [] : ["--preset"]), ...(ttl === undefined ? [] : ["--ttl"])];
  if (page === undefined || idle.length === 0) return;
  throw refused(`--page: ${idle.join(" and ")} can't go with it`, "a link opens pages alone, within five minutes", "leave one of them out");
}

function refuseDeployment(id: string, record: DeploymentRecord | null): asserts record is DeploymentRecord {
  if (record === null) {
    throw new UserError({
      what: `${id}: no such deployment`,
      why: "no deployment has this id or instance id",
      next: "agent-env env list --all",
    });
  }
  if (record.status !== "up") {
    throw new UserError({ what: `${id}: it is ${record.status}`, why: "only what is up has callers", next: "agent-env env list" });
  }
  if (record.gateway_url === null) {
    throw new UserError({
      what: `${id}: it has no gateway`,
      why: `the env provider ${record.env_provider_type} starts none, and nothing there asks for tokens`,
      next: "call it as it is",
    });
  }
}

function refused(what: string, why: string, next: string): UserError {
  return new UserError({ what, why, next, exitCode: 2 });
}
