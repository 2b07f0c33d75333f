import { type DeploymentRecord, UserError } from "@agent-env/protocol";
import { deployOnChain } from "../../deploy/deploy-chain.ts";
import { loadDeployableEnv } from "../../deploy/env.ts";
import { getDeployment, listDeployments } from "../../deploy/list.ts";
import { releaseDeployment } from "../../deploy/record.ts";
import { holders, stopDeployment } from "../../deploy/teardown.ts";
import { chooseSandbox, SANDBOX_HELP } from "../../run/choose-sandbox.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import { openStore, recordsSetting } from "../../store/open.ts";
import { holdRun, newRunId, runIsAlive } from "../../store/run-lock.ts";
import type { Store } from "../../store/store.ts";
import { storedRecord } from "../../store/stored.ts";
import type { AddCommand } from "../cli.ts";
import { deployContext } from "../deploy-context.ts";
import { type CommonOptions, columns, type Io, printDocument, progressFor } from "../io.ts";
import { numberIn, wholeNumberIn } from "../numbers.ts";
import { idsHere } from "../put.ts";
import { reading } from "../stores.ts";
import { addEnvPuts } from "./env-put.ts";
import { addStoredEnvs } from "./env-stored.ts";
import { addGatewayPut } from "./gateway-put.ts";

type DeployOptions = CommonOptions & {
  readonly id: string;
  readonly version?: number;
  readonly ttlSeconds: number;
  readonly sandbox?: string;
  readonly gateway?: string;
  readonly gatewayMode: string;
  readonly auth?: string;
  readonly cpu?: number;
  readonly memoryMb?: number;
};

export const envCommand: AddCommand = (parent, io, end) => {
  const env = parent.command("env").description("stored envs and their deployments: put, show, export; start, list, stop");
  addEnvPuts(env, io);
  addGatewayPut(env, io);
  addStoredEnvs(env, io);

  env
    .command("list")
    .description("list the deployments that are up")
    .option("--all", "also those that have ended")
    .action(async (options: CommonOptions & { all?: boolean }) => {
      const records = await reading(io, async (store) => listDeployments(store));
      const shown = await Promise.all(
        records.filter(({ status }) => options.all || status === "up").map((record) => withState(record, io)),
      );
      const rows = shown.map((record) => [
        record.env_id ?? "",
        record.deployment_id ?? "",
        record.sandbox_type ?? "",
        record.created_at_utc ?? "",
        record.expires_at_utc ?? "",
        record.state,
      ]);
      const text =
        rows.length === 0 ? "no deployment is up" : columns([["ENV", "DEPLOYMENT", "SANDBOX", "STARTED", "EXPIRES", "STATE"], ...rows]);
      printDocument(io, options, { deployments: shown }, text);
    });

  env
    .command("get-instance")
    .description("print the record of one deployment")
    .requiredOption("--id <id>", "deployment id or instance id")
    .action(async (options: CommonOptions & { id: string }) => {
      const record = await reading(io, (store) => getDeployment(store, options.id));
      if (record === null) throw unknownDeployment(options.id);
      printDocument(io, options, { deployment: record }, JSON.stringify(record, null, 2));
    });

  env
    .command("stop")
    .description("take a deployment down; fine when it is gone already")
    .argument("<id>", "deployment id or instance id")
    .action(async (id: string, options: CommonOptions) => {
      const plugins = await io.loadedPlugins();
      const { stateDir, store } = await writing(io);
      const reporter = progressFor(io, options);
      try {
        const known = await getDeployment(store, id);
        if (known === null) {
          if ((await holders(id, { stateDir, plugins })).length === 0) throw unknownDeployment(id);
          reporter.emit({
            kind: "log",
            entry: id,
            level: "warning",
            message: "no deployment has this id; what carries its label is removed",
          });
        }
        const { leftUp } = await stopDeployment(known?.deployment_id ?? id, { store, stateDir, emit: reporter.emit, plugins });
        reporter.close();
        const text =
          leftUp.length === 0
            ? `${id}: stopped`
            : leftUp.map(({ kind, name, reason }) => `still up: ${kind} ${name}: ${reason}`).join("\n");
        printDocument(io, options, { id, left_up: leftUp }, text);
        end(leftUp.length > 0 ? 1 : 0);
      } finally {
        reporter.close();
        await store.close();
      }
    });

  env
    .command("deploy")
    .description("start a stored env and print its addresses")
    .requiredOption("--id <id>", "the env's id, or in a bundle's folder its name there")
    .option("--version <n>", "its version (the latest)", wholeNumberIn(1, Number.MAX_SAFE_INTEGER))
    .option("--ttl-seconds <n>", "how long it may live, 60 to 1209600", wholeNumberIn(60, 1_209_600), 10_800)
    .option("--sandbox <name>", SANDBOX_HELP)
    .option("--gateway <where>", "container (one of its own) or edge (the one of agent-env gateway dev); else [gateway] mode")
    .option("--auth <mode>", "open (this machine's callers) or token (agent-env gateway token prints one); else [gateway] auth")
    .option("--gateway-mode <mode>", "performance, or consistent (one tool call at a time)", "performance")
    .option("--cpu <n>", "processors a container may use", numberIn(0.01, 1024))
    .option("--memory-mb <n>", "memory a container may use", numberIn(16, 1_048_576))
    .action(async (options: DeployOptions) => deploy(options, io));
};

/** A record says `up` until it is closed: what is left of a run that was killed says so too. */
async function withState(record: DeploymentRecord, io: Io): Promise<DeploymentRecord & { readonly state: string }> {
  const isLeft = record.status === "up" && record.owner !== null && !(await runIsAlive(stateDirOf(io.env), record.owner));
  return { ...record, state: isLeft ? "left over: agent-env gc" : record.status };
}

async function deploy(options: DeployOptions, io: Io): Promise<void> {
  const settings = io.settings();
  const plugins = await io.loadedPlugins();
  const { gateway = settings.gateway().mode, gatewayMode, auth = settings.gateway().auth } = options;
  if (gateway !== "container" && gateway !== "edge") throw notOneOf("--gateway", gateway, ["container", "edge"]);
  if (auth !== "open" && auth !== "token") throw notOneOf("--auth", auth, ["open", "token"]);
  if (gatewayMode !== "performance" && gatewayMode !== "consistent")
    throw notOneOf("--gateway-mode", gatewayMode, ["performance", "consistent"]);
  const sandbox = await chooseSandbox({ option: options.sandbox ?? null, setting: settings.sandbox().default }, plugins.sandboxes);
  const { stateDir, store } = await writing(io);
  const owner = newRunId(new Date());
  const held = holdRun(stateDir, owner);
  const reporter = progressFor(io, options);
  try {
    const version = options.version ?? null;
    const { id: envId } = await storedRecord(store, { kind: "env", ids: idsHere(io, "env", options.id), version });
    const env = await loadDeployableEnv(store, plugins.registry, { id: envId, version });
    const deployment = await deployOnChain(
      sandbox.chain,
      {
        env,
        gateway,
        gatewayMode,
        auth,
        owner,
        ttlSeconds: options.ttlSeconds,
        cpu: options.cpu ?? null,
        memoryMb: options.memoryMb ?? null,
        metadata: {},
      },
      deployContext(io, { store, emit: reporter.emit, plugins }),
    );
    const { record } = deployment;
    const id = record.deployment_id ?? "";
    await releaseDeployment(store, id);
    reporter.close();
    const rows = [
      ["deployment", id],
      ["MCP", record.mcp_url ?? ""],
      ["gateway", record.gateway_url ?? "none"],
      ...Object.entries(record.website_frontend_urls).map(([site, url]) => [`site ${site}`, url]),
      ["expires", record.expires_at_utc ?? ""],
      ["stop it", `agent-env env stop ${id}`],
    ];
    printDocument(io, options, { deployment: { ...record, owner: null } }, columns(rows));
  } finally {
    reporter.close();
    await held.release();
    await store.close();
  }
}

async function writing(io: Io): Promise<{ stateDir: string; store: Store }> {
  const stateDir = stateDirOf(io.env);
  return { stateDir, store: await openStore(recordsSetting(io.settings()), stateDir, "write") };
}

function unknownDeployment(id: string): UserError {
  return new UserError({
    what: `${id}: no such deployment`,
    why: "no deployment has this id or instance id",
    next: "agent-env env list --all",
  });
}

function notOneOf(option: string, value: string, known: readonly string[]): UserError {
  return new UserError({
    what: `${option}: ${JSON.stringify(value)} is not known`,
    why: `it takes ${known.join(" or ")}`,
    next: "agent-env env deploy --help",
    exitCode: 2,
  });
}
