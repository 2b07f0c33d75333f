import type { Command } from "commander";
import { platformOf } from "../../images/platform.ts";
import { lookupHere } from "../../put/bundle-here.ts";
import { putOf } from "../../put/by-options.ts";
import { type ContextFolder, openContext } from "../../put/context-folder.ts";
import { putMetadata } from "../../put/metadata.ts";
import { agentEnvVersion } from "../../report/version.ts";
import type { CommonOptions, Io } from "../io.ts";
import { addImageOptions, type ImageOptions, idHere, imageContext, pinnedRef, repeatable, runPut } from "../put.ts";

type EnvOptions = CommonOptions & {
  readonly id: string;
  readonly environmentName?: string;
  readonly envProviderType?: string;
  readonly metadata: string[];
};
type WebsiteOptions = EnvOptions & {
  readonly backendDockerfile: string;
  readonly backendDockerContext?: string;
  readonly frontendDockerfile: string;
  readonly frontendDockerContext?: string;
  readonly platform?: string;
};
type MultiOptions = EnvOptions & { readonly mcpServer: string[]; readonly website: string[]; readonly name?: string };

const PROVIDER = ["--env-provider-type <name>", "what deploys it (gateway)"] as const;
const ID = "the env's id: bare, @local/…, or in a bundle's folder an env's name there";
const WORDS = {
  environment_name: "--environment-name",
  env_provider_type: "--env-provider-type",
  mcp_server_envs: "--mcp-server",
  website_envs: "--website",
  "^name(?=:)": "--name",
};

/** `env mcp-server|website|multi put` (5-run §14): what a bundle's folder would be written as, under an id of one's own. */
export function addEnvPuts(env: Command, io: Io): void {
  const mcpServer = env.command("mcp-server").description("store an MCP server without a bundle");
  named(addImageOptions(mcpServer.command("put").description("store a version of an MCP server's env").requiredOption("--id <id>", ID)))
    .option(...PROVIDER)
    .action(async (options: EnvOptions & ImageOptions) => {
      const context = imageContext(io, options);
      await putEnv(io, options, { type: "mcp_server", contexts: new Map([["image", context]]), config: nameConfig(options) });
    });

  const website = env.command("website").description("store a website without a bundle");
  named(
    website
      .command("put")
      .description("store a version of a website's env")
      .requiredOption("--id <id>", ID)
      .requiredOption("--backend-dockerfile <file>", "the Dockerfile of the backend, whose card names the env")
      .option("--backend-docker-context <folder>", "the folder that it is built in (the Dockerfile's own)")
      .requiredOption("--frontend-dockerfile <file>", "the Dockerfile of the pages")
      .option("--frontend-docker-context <folder>", "the folder that it is built in (the Dockerfile's own)")
      .option("--platform <platform>", "what both are built for, as linux/amd64 (the Docker Engine's own)"),
  )
    .option(...PROVIDER)
    .action(async (options: WebsiteOptions) => {
      await putEnv(io, options, { type: "website", contexts: siteContexts(io, options), config: nameConfig(options) });
    });

  const multi = env.command("multi").description("store several envs as one without a bundle");
  const put = multi.command("put").description("store a version of an env over stored ones").requiredOption("--id <id>", ID);
  repeatable(put, "--mcp-server <id[:version]>", "a stored MCP server's env; without a version its latest (repeatable)");
  repeatable(put, "--website <id[:version]>", "a stored website's env (repeatable)");
  metadata(put)
    .option("--name <name>", "the name of its deployments (drawn at each)")
    .option(...PROVIDER)
    .action(async (options: MultiOptions) => {
      const config = {
        mcp_server_envs: options.mcpServer.map((text) => pinnedRef("--mcp-server", "env", text)),
        website_envs: options.website.map((text) => pinnedRef("--website", "env", text)),
        name: options.name,
        env_provider_type: options.envProviderType,
      };
      await putEnv(io, options, { type: "multi", contexts: new Map(), config });
    });
}

function named(command: Command): Command {
  return metadata(command).option("--environment-name <name>", "the server's name (the one on the card in its source)");
}

function metadata(command: Command): Command {
  return repeatable(command, "--metadata <key=value>", "what else the record is to say (repeatable)");
}

function nameConfig({ environmentName, envProviderType }: EnvOptions) {
  return { environment_name: environmentName, env_provider_type: envProviderType };
}

function siteContexts(io: Io, options: WebsiteOptions): ReadonlyMap<string, ContextFolder> {
  const side = (name: "backend" | "frontend", dockerfile: string, context: string | undefined): ContextFolder =>
    openContext({ dockerfile, context }, io.cwd, { dockerfile: `--${name}-dockerfile`, context: `--${name}-docker-context` });
  return new Map([
    ["backend_image", side("backend", options.backendDockerfile, options.backendDockerContext)],
    ["frontend_image", side("frontend", options.frontendDockerfile, options.frontendDockerContext)],
  ]);
}

type EnvPut = {
  readonly type: string;
  readonly contexts: ReadonlyMap<string, ContextFolder>;
  readonly config: Readonly<Record<string, unknown>>;
};

async function putEnv(io: Io, options: EnvOptions & { readonly platform?: string }, { type, contexts, config }: EnvPut): Promise<void> {
  const [first] = contexts.values();
  const metadata = await putMetadata({ version: agentEnvVersion(), source: first?.disk ?? null, given: options.metadata });
  const platform = options.platform === undefined ? null : platformOf(options.platform, "--platform");
  const id = idHere(io, "env", options.id);
  await runPut(io, options, {
    entity: (registry) => putOf({ kind: "env", type, id, config, contexts, platform, metadata }, registry, lookupHere([io.cwd])),
    words: WORDS,
    next: (written) => `agent-env env deploy --id ${written}`,
  });
}
