import { z } from "zod";

/** What is known of a key beside its values. `readBy` is null for one that nothing reads yet. */
export type KeyFacts = {
  readonly readBy: string | null;
  /** An environment variable that wins over the file. */
  readonly variable?: string;
  /** Never shown. */
  readonly isSecret?: true;
};

export const KEY_FACTS = z.registry<KeyFacts>();

function key<Schema extends z.ZodType>(schema: Schema, facts: KeyFacts, about: string): Schema {
  const described = schema.describe(about);
  KEY_FACTS.add(described, facts);
  return described;
}

function section<Shape extends z.ZodRawShape>(about: string, shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape).describe(about);
}

const text = (): z.ZodString => z.string().min(1);
const count = (): z.ZodInt => z.int().positive();

const CloudflareRecords = z.strictObject({
  kind: z.literal("cloudflare"),
  account_id: key(text(), { readBy: "the stores", variable: "CLOUDFLARE_ACCOUNT_ID" }, "the Cloudflare account").optional(),
  bucket: key(text(), { readBy: "the stores" }, "the R2 bucket"),
  kv_namespace_id: key(text(), { readBy: "the stores" }, "the KV namespace; `store init` makes one").optional(),
  access_key_id: key(text(), { readBy: "the stores" }, "an R2 access key"),
  secret_access_key: key(text(), { readBy: "the stores", isSecret: true }, "that key's secret"),
  api_token: key(text(), { readBy: "the stores", variable: "CLOUDFLARE_API_TOKEN", isSecret: true }, "a Cloudflare API token").optional(),
});

const ModelRoles = z.strictObject({
  agent: key(text(), { readBy: null }, "the model of agents").optional(),
  user: key(text(), { readBy: null }, "the model of simulated users").optional(),
  judge: key(text(), { readBy: null }, "the model of judges").optional(),
});

/** Set by us for each call, so not by the file. */
const OUR_PARAMS = ["model", "messages", "api_key", "api_base", "user", "metadata", "timeout", "response_format"];
const ModelParams = z
  .record(z.string(), z.unknown())
  .refine((params) => OUR_PARAMS.every((name) => !(name in params)), { error: `may not set ${OUR_PARAMS.join(", ")}` });

/** What `[plugins."<package>"]` holds beside the plugin's own settings. */
const PluginTable = key(
  z.looseObject({
    names: key(
      z.array(text()),
      { readBy: "plugins" },
      "contributions of this package that win over another package's of the same name",
    ).optional(),
  }),
  { readBy: "that plugin" },
  "a plugin's own settings",
);

/** The sections of `config.toml`, each with all of its keys (5-run §12). This is their only definition. */
export const SECTIONS = {
  stores: section("where things are kept", {
    records: key(
      z.union([z.literal("local"), CloudflareRecords]),
      { readBy: "the stores" },
      'where records lie: "local", or an R2 bucket',
    ).default("local"),
    image: key(
      z.union([z.literal("none"), z.strictObject({ kind: z.literal("r2"), url: text() })]),
      { readBy: null },
      'where built images are kept for providers elsewhere: "none", or the edge gateway that serves them from R2',
    ).default("none"),
    secret: key(
      z.union([z.literal("env"), z.strictObject({ file: text() })]),
      { readBy: "secret: values" },
      'where `secret:` values come from: "env" (the variable of that name), or a file with mode 0600',
    ).default("env"),
  }),
  sandbox: section("where servers and agents run", {
    default: key(text(), { readBy: "run, env deploy" }, "the sandbox of envs, or several with commas: the next where one fails").default(
      "auto",
    ),
    agent_default: key(text(), { readBy: null }, "the sandbox of agents and judges").default("auto"),
    vm_image: key(text(), { readBy: null }, "the image of a bare sandbox").default("debian:bookworm-slim"),
    providers: key(
      z
        .record(z.string(), z.looseObject({ type: text() }))
        .refine((presets) => Object.keys(presets).every((name) => name !== "auto" && /^[^,\s]+$/.test(name)), {
          error: "a preset's name has no comma and no space, and isn't auto",
        }),
      { readBy: "run, env deploy, env stop, gc, doctor" },
      "presets by name: a provider's `type` and its settings",
    ).default({}),
    attribution: key(z.record(z.string(), z.string()), { readBy: null }, "tags on sandboxes elsewhere").default({}),
  }),
  envs: section("infrastructure that deploys need", {
    default_gateway_env_id: key(text(), { readBy: "deploys with a container gateway" }, "the gateway's env").default("default"),
    default_service_db_env_id: key(text(), { readBy: null }, "the service database's env").default("default-db"),
    default_website_browser_env_id: key(text(), { readBy: null }, "the website browser's env").default("website-browser"),
  }),
  agents: section("agents", {
    default_a2a_agent_id: key(text(), { readBy: null }, "the agent of steps that name none").optional(),
  }),
  model: section("the model endpoint", {
    base_url: key(text(), { readBy: null, variable: "LITELLM_BASE_URL" }, "an OpenAI-compatible endpoint").optional(),
    api_key: key(text(), { readBy: null, variable: "LITELLM_API_KEY", isSecret: true }, "the endpoint's key").optional(),
    default: key(text(), { readBy: null }, "the model of roles that name none").optional(),
    roles: key(ModelRoles, { readBy: null }, "models by role").default({}),
    params: key(ModelParams, { readBy: null }, "further parameters of each call").default({}),
    headers: key(z.record(z.string(), z.string()), { readBy: null, isSecret: true }, "headers for base_url only").default({}),
  }),
  build: section("how images are built", {
    platform: key(text(), { readBy: "run" }, "the platform of built images; left out: the Engine's").optional(),
    concurrency: key(count(), { readBy: "run" }, "images built at once").default(2),
    timeout_s: key(count(), { readBy: "run" }, "seconds that one image's build may take").default(3600),
  }),
  run: section("how tasks run", {
    concurrency: key(count(), { readBy: "run" }, "task runs at once").default(4),
  }),
  verifiers: section("how verifiers run", {
    python: key(text(), { readBy: "run, doctor" }, "the interpreter of verifiers in Python").default("python3"),
    timeout_s: key(count(), { readBy: "run" }, "seconds that a verifier may take").default(600),
    memory_mb: key(count(), { readBy: "run" }, "megabytes that a verifier may take").default(1024),
  }),
  gateway: section("how deployments are reached", {
    mode: key(z.enum(["container", "edge"]), { readBy: "run, env deploy" }, "a gateway for each deployment, or the edge gateway").default(
      "container",
    ),
    auth: key(z.enum(["open", "token"]), { readBy: "run, env deploy" }, "whether callers need a token").default("open"),
    domain: key(text(), { readBy: "gateway deploy" }, "the edge gateway's domain").optional(),
  }),
  explorer: section("the live page", {
    port: key(z.int().min(1).max(65_535), { readBy: null }, "the live page's port").default(8234),
  }),
  plugins: z
    .object({ packages: key(z.array(text()), { readBy: "plugins" }, "plugins beside the project's own dependencies").default([]) })
    .catchall(PluginTable)
    .describe("plugins, and their own settings"),
};

export type SectionName = keyof typeof SECTIONS;

/** The whole file. Its JSON Schema is made from this. */
export const ConfigFile = z.strictObject(SECTIONS).partial();
