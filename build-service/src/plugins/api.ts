/** What a plugin's modules are written with: `import { extendsType, website } from "agent-env/plugin"`. */
export { UserError } from "@agent-env/protocol";
export { z } from "zod";
export type { DeployableEnv, DeployContext, DeployOptions, LeftUp } from "../deploy/deployment.ts";
export { labelsOf, stateLabel } from "../deploy/labels.ts";
export { attemptOf, settled } from "../deploy/readiness.ts";
export type { Addresses } from "../deploy/topology.ts";
export type { ImageContext } from "../images/builder.ts";
export type { EnvProviderCapabilities, SandboxCapabilities } from "../providers/capabilities.ts";
export { gatewayProvider } from "../providers/env/gateway.ts";
export type { EnvProvider, Started } from "../providers/env/provider.ts";
export { serverProvider } from "../providers/env/server.ts";
export { layOutService, serviceEnvironment } from "../providers/sandbox/process/from-source.ts";
export type { LaidOut } from "../providers/sandbox/process/layout.ts";
export { processProvider } from "../providers/sandbox/process/provider.ts";
export {
  type Address,
  type Labelled,
  NoRoom,
  type Probe,
  type ProbeResult,
  type SandboxProvider,
  type SandboxSession,
  type Service,
  type SessionSpec,
} from "../providers/sandbox/provider.ts";
export { type StepRef, type StepType, stepOf } from "../run/steps/step.ts";
export type { TaskContext } from "../run/task-context.ts";
export type { AcceptContext } from "../types/accept-context.ts";
export { type Extension, extendsType } from "../types/extends-type.ts";
export { mcpServer } from "../types/mcp-server.ts";
export { multi } from "../types/multi.ts";
export { pinnedRef, typedRef, versionedRef } from "../types/refs.ts";
export type { ArtifactType, Config, EnvType, Fields, KeyKind, Load, RecordBody, TomlRef, Topology } from "../types/type.ts";
export { website } from "../types/website.ts";
export type { PluginCommand, PluginCommandContext } from "./command.ts";
