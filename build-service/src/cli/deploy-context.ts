import type { DeployContext } from "../deploy/deployment.ts";
import { gatewaySettings } from "../deploy/gateway-settings.ts";
import { edgeUrlOf } from "../run/edge-url.ts";
import { stateDirOf } from "../run/state-dir.ts";
import type { Io } from "./io.ts";

/** What a command deploys with: what it has opened, and what the settings and the environment say. */
export function deployContext(io: Io, opened: Pick<DeployContext, "store" | "emit" | "plugins">): DeployContext {
  const stateDir = stateDirOf(io.env);
  return {
    ...opened,
    stateDir,
    signal: io.signal,
    edgeUrl: edgeUrlOf(stateDir),
    gatewayEnvId: io.settings().envs().default_gateway_env_id,
    gatewaySettings: gatewaySettings(io.env),
  };
}
