import { join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { z } from "zod";
import { gatewaySettings } from "../deploy/gateway-settings.ts";
import { startWorkerd } from "../infra/workerd.ts";
import { edgeToml, type GatewayPlan, wranglerDocument } from "./plan.ts";
import { workerModules, wranglerConfig, wranglerProgram } from "./wrangler.ts";

const COMMAND = "gateway dev";

export type EdgeOptions = {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Where the records of deployments lie, and what their gateways remember. */
  readonly stateDir: string;
  /** Its `GATEWAY_…` and `OTEL_…` variables are the Worker's settings, besides `[vars]` of `wrangler.toml`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly onStep: (message: string) => void;
  /** What the Worker writes to its console. */
  readonly log: (line: string) => void;
};

/**
 * Starts the edge gateway on this machine: the Worker as wrangler bundles it for a deploy, in workerd, with what `wrangler.toml`
 * binds it to. It is reached at its own socket, and not through the Workers that wrangler's `dev` has before it. Gives what
 * ends it. Throws a UserError (exit code 2) outside of a checkout, and when wrangler or workerd refuses.
 */
export async function startEdge({ port, stateDir, env, signal, onStep, log }: EdgeOptions): Promise<() => Promise<void>> {
  const tomlPath = wranglerConfig(COMMAND);
  const toml = edgeToml(tomlPath);
  onStep("bundling the Worker");
  const document = wranglerDocument({ toml, records: null, domain: null }, null);
  const modules = await workerModules({
    command: COMMAND,
    program: wranglerProgram(COMMAND, tomlPath),
    document,
    env,
    apiToken: null,
    signal,
  });
  onStep("starting workerd");
  const worker = { config: workerConfig(toml, modules, env), dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port }] } };
  try {
    const { miniflare } = await startWorkerd({ persistPath: join(stateDir, "v3"), worker, log });
    return () => miniflare.dispose();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UserError({ what: `${COMMAND}: workerd can't be started`, why, next: "mend what it says", exitCode: 2 }, { cause: error });
  }
}

function workerConfig(toml: GatewayPlan["toml"], modules: ReadonlyMap<string, Buffer>, env: EdgeOptions["env"]) {
  const { name, durable_objects: objects } = toml;
  const [kv] = toml.kv_namespaces;
  const [r2] = toml.r2_buckets;
  const [[mainModule, code] = [], ...others] = modules;
  if (mainModule === undefined || code === undefined || others.length > 0)
    throw new Error(`wrangler made ${modules.size} modules of the Worker`);
  // the shell's go before what `[vars]` says
  const variables = Object.entries({ ...toml.vars, ...gatewaySettings(env) }).map(([key, value]) => [key, variable(value)] as const);
  return {
    name,
    compatibilityDate: toml.compatibility_date,
    compatibilityFlags: toml.compatibility_flags,
    manifest: { mainModule, modulesRoot: "/", modules: { [mainModule]: { type: "esm" as const, contents: code.toString() } } },
    env: {
      ...Object.fromEntries(variables),
      [kv.binding]: { type: "kv" as const, id: kv.id },
      [r2.binding]: { type: "r2" as const, name: r2.bucket_name },
      ...Object.fromEntries(
        objects.bindings.map((object) => [object.name, { type: "durable-object" as const, worker: name, exportName: object.class_name }]),
      ),
    },
    exports: Object.fromEntries(
      objects.bindings.map((object) => [object.class_name, { type: "durable-object" as const, storage: "sqlite" as const }]),
    ),
  };
}

function variable(value: unknown) {
  return typeof value === "string" ? { type: "text" as const, value } : { type: "json" as const, value: z.json().parse(value) };
}
