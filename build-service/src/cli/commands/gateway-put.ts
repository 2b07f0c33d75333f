import { Refused } from "@agent-env/protocol";
import type { Command } from "commander";
import { lockOwner } from "../../bundle/write-locks.ts";
import { engineProblem } from "../../images/engine.ts";
import { ensureBuilt } from "../../images/ensure.ts";
import { platformOf } from "../../images/platform.ts";
import { imageBuilder } from "../../infra/builder.ts";
import { putGateway } from "../../infra/gateway-image.ts";
import { putMetadata } from "../../put/metadata.ts";
import { putIdProblem } from "../../put/put-id.ts";
import type { Emit } from "../../report/events.ts";
import { agentEnvVersion } from "../../report/version.ts";
import { newRunId } from "../../store/run-lock.ts";
import type { Store } from "../../store/store.ts";
import { type CommonOptions, type Io, printDocument, progressFor } from "../io.ts";
import { repeatable } from "../put.ts";
import { checkedWriting } from "../stores.ts";

type Options = CommonOptions & { readonly id?: string; readonly metadata: string[]; readonly platform?: string };

/** `env gateway put` (5-run §4.4): the gateway that ships with this agent-env, written ahead of the first run that needs it. */
export function addGatewayPut(env: Command, io: Io): void {
  const put = env
    .command("gateway")
    .description("store the gateway's env ahead of a run")
    .command("put")
    .description("store this agent-env's gateway as the env's next version, and build its image where a Docker Engine answers")
    .option("--id <id>", "the env's id ([envs] default_gateway_env_id)")
    .option("--platform <platform>", "what its image is built for, as linux/amd64 (the Docker Engine's own)");
  repeatable(put, "--metadata <key=value>", "what else the record is to say (repeatable)").action(async (options: Options) => {
    const gatewayEnvId = options.id ?? io.settings().envs().default_gateway_env_id;
    const platform = options.platform === undefined ? null : platformOf(options.platform, "--platform");
    const metadata = await putMetadata({ version: agentEnvVersion(), source: null, given: options.metadata });
    const reporter = progressFor(io, options);
    const { emit } = reporter;
    try {
      const { env, image } = await checkedWriting(
        io,
        async () => refuseId(gatewayEnvId),
        async (store) => {
          const context = { store, emit, signal: io.signal, owner: lockOwner(newRunId(new Date())), gatewayEnvId };
          const written = await putGateway(context, { platform, metadata });
          await buildAhead(written.image, { store, emit, signal: io.signal });
          return written;
        },
      );
      reporter.close();
      const written = [image, env].map(({ id, version, type }) => ({
        kind: type === "docker_image" ? "artifact" : "env",
        id,
        version,
        type,
      }));
      printDocument(io, options, { kind: "env", record: env, written }, `${env.id}: env v${env.version}`);
    } finally {
      reporter.close();
    }
  });
}

function refuseId(id: string): void {
  const wrong = putIdProblem("env", id);
  if (wrong !== null) throw new Refused([{ code: "bad-id", path: "--id", message: wrong }]);
}

type Building = { readonly store: Store; readonly emit: Emit; readonly signal: AbortSignal };

async function buildAhead(record: Parameters<typeof ensureBuilt>[0]["record"], building: Building): Promise<void> {
  const problem = await engineProblem();
  if (problem === null) await ensureBuilt({ ...building, record, entry: record.id, builder: imageBuilder() });
  else {
    const message = `not built yet, since no Docker Engine answers: ${problem.why}; the first run that needs it builds it`;
    building.emit({ kind: "log", entry: record.id, level: "warning", message });
  }
}
