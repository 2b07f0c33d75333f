/** What a plugin's modules are written with: `import { extendsType, website } from "agent-env/plugin"`. */
export { z } from "zod";
export type { EnvProviderCapabilities } from "../providers/capabilities.ts";
export type { EnvProvider } from "../providers/env/provider.ts";
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
