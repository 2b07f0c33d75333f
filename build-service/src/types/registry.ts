import type { Kind } from "@agent-env/protocol";
import { ENV_PROVIDERS, type EnvProviderCapabilities } from "../providers/capabilities.ts";
import { dockerImage } from "./docker-image.ts";
import { environment } from "./environment.ts";
import { environmentUniverse } from "./environment-universe.ts";
import { evalType } from "./eval.ts";
import { file } from "./file.ts";
import { fileUniverse } from "./file-universe.ts";
import { mcpServer } from "./mcp-server.ts";
import { multi } from "./multi.ts";
import type { BundleType } from "./type.ts";
import { website } from "./website.ts";

/** What is there to read and deploy a bundle with: a plugin adds to both. */
export type Registry = {
  readonly types: readonly BundleType[];
  readonly envProviders: Readonly<Record<string, EnvProviderCapabilities>>;
};

export const BUILT_IN: Registry = {
  types: [mcpServer, website, multi, file, fileUniverse, environment, environmentUniverse, dockerImage, evalType],
  envProviders: ENV_PROVIDERS,
};

export function findType({ types }: Registry, kind: Kind, type: string): BundleType | undefined {
  return types.find((candidate) => candidate.kind === kind && candidate.type === type);
}

/** The names of a kind's types, sorted, for messages. */
export function typeNames({ types }: Registry, kind: Kind): string[] {
  return types
    .filter((candidate) => candidate.kind === kind)
    .map(({ type }) => type)
    .sort();
}
