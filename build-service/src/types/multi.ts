import { MultiRecord } from "@agent-env/protocol";
import { z } from "zod";
import { pinnedRef, Ref, typedRef } from "./refs.ts";
import type { EnvType, Load } from "./type.ts";

const Fields = z.object({
  mcp_server_envs: z.array(Ref),
  website_envs: z.array(Ref),
  name: z.string().optional(),
  env_provider_type: z.string(),
});

const MultiName = z.string().regex(/^\P{White_Space}+$/u);

/** Several servers as one env. */
export const multi: EnvType = {
  kind: "env",
  type: "multi",
  tomlKeys: { mcp_server_envs: "list", website_envs: "list", name: "string", env_provider_type: "string" },
  tomlRefs: [
    { path: "mcp_server_envs[]", kind: "env", types: ["mcp_server"] },
    { path: "website_envs[]", kind: "env", types: ["website"] },
  ],
  tomlValues: { name: MultiName },
  topology: { lists: { mcp_server_envs: "mcp", website_envs: "website" } },
  async accept(config, context) {
    const accepted = await context.acceptedEnv({ namedBy: null });
    if (isEmpty(config["mcp_server_envs"] ?? []) && isEmpty(config["website_envs"] ?? [])) {
      context.problem("no-envs", "names no env: list MCP servers in mcp_server_envs, websites in website_envs");
    }
    const name = accepted["name"];
    if (typeof name === "string" && !MultiName.safeParse(name).success) {
      const rule = "it must be a text without white space; leave it out to have one drawn at each deploy";
      context.problem("bad-multi-name", `name: ${JSON.stringify(name)} can't be a multi's name: ${rule}`);
    }
    return { mcp_server_envs: [], website_envs: [], ...accepted };
  },
  writes: "record",
  async write(fields, load) {
    const { mcp_server_envs, website_envs, name, env_provider_type } = Fields.parse(fields);
    return {
      metadata: {},
      env_provider_type,
      ...(name === undefined ? {} : { name }),
      mcp_server_envs: await children(mcp_server_envs, load),
      website_envs: await children(website_envs, load),
    };
  },
  read(record) {
    const { mcp_server_envs, website_envs, name, env_provider_type } = MultiRecord.parse(record);
    return {
      mcp_server_envs: mcp_server_envs.map((ref) => pinnedRef("env", ref)),
      website_envs: website_envs.map((ref) => pinnedRef("env", ref)),
      ...(name === undefined ? {} : { name }),
      env_provider_type,
    };
  },
};

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

async function children(refs: readonly unknown[], load: Load) {
  return (await Promise.all(refs.map((ref) => load.env(ref)))).map(typedRef);
}
