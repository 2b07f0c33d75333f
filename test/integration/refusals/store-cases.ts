import { deploying, loading, multi, named, type Refusal, seed, server, site, steps } from "./refusal.ts";
import { type Stored, storedEnvironment, storedFile, storedImage, storedServer, storedSite } from "./stored.ts";

/** A refusal for what the store holds: found by a plan and by a run, and unknown to a check. */
export type StoreRefusal = Omit<Refusal, "run" | "prepare"> & { readonly stored: readonly Stored[] };

const ref = (id: string, type: string) => ({ id, version: 1, type });
const deploy = (id: string, more: object = {}) => ({ id, type: "deploy_env", env_id: "a", ...more });

export const STORE: readonly StoreRefusal[] = [
  {
    name: "nothing of that id, in a toml, a step and an image key",
    stored: [],
    tree: {
      ...server("a", `image = "team/image"\n${named("a")}`),
      ...multi("m", 'mcp_server_envs = ["a", "team/crm", "@local/elsewhere/crm"]\n'),
      ...steps(deploy("x", { env_id: "m" }), deploy("y", { env_id: "mail" })),
    },
    lines: [
      'not-stored envs/a: image: there is no artifact "team/image" in this bundle or in the store',
      'not-stored envs/m: mcp_server_envs[1]: there is no env "team/crm" in this bundle or in the store',
      'not-stored envs/m: mcp_server_envs[2]: there is no env "@local/elsewhere/crm" in this bundle or in the store',
      "not-stored tasks/t.json: step 'y': env_id: there is no env \"mail\" in this bundle or in the store",
    ],
  },
  {
    name: "a name that is nearly an entry's",
    stored: [],
    tree: { ...server("items"), ...steps(deploy("x", { env_id: "itmes" }), deploy("y", { env_id: "items" })) },
    lines: [
      'not-stored tasks/t.json: step \'x\': env_id: there is no env "itmes" in this bundle or in the store: probably "items", which is in this bundle',
    ],
  },
  {
    name: "no such version",
    stored: [storedImage("image"), storedServer("mail", "mail")],
    tree: {
      ...server("a"),
      ...multi("m", 'mcp_server_envs = ["a", { env = "mail", version = 7 }]\n'),
      ...steps(deploy("x", { env_id: "m" }), deploy("y", { env_id: "mail", env_version: 9 })),
    },
    lines: [
      'not-stored envs/m: mcp_server_envs[1]: there is no env "mail" v7 in the store: its latest is v1',
      "not-stored tasks/t.json: step 'y': env_id: there is no env \"mail\" v9 in the store: its latest is v1",
    ],
  },
  {
    name: "a name that an entity of another kind has",
    stored: [],
    tree: {
      ...server("crm"),
      ...seed("data", 'type = "environment"\nenvironment_name = "crm"\n'),
      ...steps(
        deploy("x", { env_id: "data" }),
        { id: "y", type: "env_outcome_verifier", env_id: "crm", file_artifact_id: "crm" },
        deploy("z", { env_id: "crm" }),
      ),
    },
    lines: [
      "not-stored tasks/t.json: step 'x': env_id: there is no env \"data\" in this bundle or in the store; artifacts/data has that name, and is an artifact",
      "not-stored tasks/t.json: step 'y': file_artifact_id: there is no artifact \"crm\" in this bundle or in the store; envs/crm has that name, and is an env",
    ],
  },
  {
    name: "records that can't be read",
    stored: [
      { key: "records/env/mail/1.json", text: "{" },
      { key: "records/env/wiki/1.json", text: '{"id": "wiki"}' },
    ],
    tree: { ...server("a"), ...multi("m", 'mcp_server_envs = ["a", "mail", "wiki"]\n'), ...deploying("m") },
    lines: [
      "store-unreadable envs/m: mcp_server_envs[1]: \"mail\" is stored, but it can't be read: SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
      'store-unreadable envs/m: mcp_server_envs[2]: "wiki" is stored, but it can\'t be read: ✖ Invalid input: expected number, received undefined → at version ✖ Invalid input: expected string, received undefined → at type',
    ],
  },
  {
    name: "stored entities of the wrong type",
    stored: [storedImage("image"), storedServer("mail", "mail"), storedSite("shop", "shop"), storedFile("file")],
    tree: {
      ...server("a", `image = "file"\n${named("a")}`),
      ...multi("m", 'mcp_server_envs = ["shop"]\nwebsite_envs = ["mail"]\n'),
      ...seed("s", 'type = "environment"\nenvironment_name = "a"\n'),
      ...loading("a", "file", "s"),
      ...deploying("m"),
    },
    lines: [
      'stored-kind envs/a: image: "file" is of type file in the store, and the field takes an artifact of type docker_image',
      'stored-kind envs/m: mcp_server_envs[0]: "shop" is of type website in the store, and the field takes an env of type mcp_server',
      'stored-kind envs/m: website_envs[0]: "mail" is of type mcp_server in the store, and the field takes an env of type website',
      "stored-kind tasks/load.json: step 'load': artifacts[0].id: \"file\" is of type file in the store, and the field takes an artifact of type environment or environment_universe",
    ],
  },
  {
    name: "an env whose id is another type in the store",
    stored: [
      {
        kind: "env",
        record: {
          id: "<root>/a",
          type: "website",
          environment_name: "a",
          service_name: "a",
          env_provider_type: "gateway",
          backend_docker_image_artifact: ref("image", "docker_image"),
          frontend_docker_image_artifact: ref("image", "docker_image"),
        },
      },
    ],
    tree: { ...server("a"), ...deploying("a") },
    lines: [
      'type-changed envs/a: "<root>/a" is an env of type website in the store, and this is a mcp_server: an id keeps its type, so rename the folder',
    ],
  },
  {
    name: "a stored child that names a container of the bundle's own",
    stored: [storedImage("image"), storedServer("mail", "A"), storedSite("shop", "a")],
    tree: {
      ...server("a"),
      ...server("b", named("a-website-backend")),
      ...multi("m", 'mcp_server_envs = ["a", "b", "mail"]\nwebsite_envs = ["shop"]\n'),
      ...deploying("m"),
    },
    lines: [
      'container-twice envs/m: mcp_server_envs[2]: "A" would be the container "A", as "a" of mcp_server_envs[0] is: give one of them another name',
      'container-twice envs/m: website_envs[0]: "a" would be the container "a-website-backend", as "a-website-backend" of mcp_server_envs[1] is: give one of them another name',
    ],
  },
  {
    name: "a stored child with a name of the gateway's own containers",
    stored: [storedImage("image"), storedServer("mail", "pgweb")],
    tree: { ...server("a"), ...multi("m", 'mcp_server_envs = ["a", "mail"]\n'), ...deploying("m") },
    lines: [
      'reserved-name envs/m: mcp_server_envs[1]: "pgweb" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
    ],
  },
  {
    name: "data for a server that a stored env doesn't have, and stored data twice",
    stored: [storedImage("image"), storedServer("mail", "mail"), storedFile("file"), storedEnvironment("letters", "mail")],
    tree: {
      ...seed("s", 'type = "environment"\nenvironment_name = "wiki"\n'),
      "artifacts/u/artifact.toml": 'type = "environment_universe"\nenvironment_artifacts = ["letters"]\n',
      "artifacts/u/mail/seed.json": "{}",
      ...loading("mail", "s", "u"),
    },
    lines: [
      'seed-twice artifacts/u: has two environments of one name, "mail": keep one',
      'seed-name tasks/load.json: step \'load\': artifacts/s has data for "wiki", and the env\'s servers are "mail"',
    ],
  },
  {
    name: "a task of the store in an eval",
    stored: [{ kind: "task", record: { id: "nightly", type: "task", steps: [] } }],
    tree: { ...server("a"), ...deploying("a"), "evals/e.toml": 'tasks = ["run", "nightly"]\n' },
    lines: [
      "eval-store-task evals/e.toml: tasks[1]: \"nightly\" is a task of the store, and a bundle's evals run the bundle's own: name one of those, or leave it out",
    ],
  },
  {
    name: "a store task that isn't there, in an eval",
    stored: [],
    tree: { ...server("a"), ...deploying("a"), "evals/e.toml": 'tasks = ["run", "nightly"]\n' },
    lines: ['not-stored evals/e.toml: tasks[1]: there is no task "nightly" in this bundle or in the store'],
  },
  {
    name: "several at once: not there, of the wrong type, of a changed type",
    stored: [
      storedImage("image"),
      storedSite("shop", "shop"),
      { kind: "env", record: { id: "<root>/a", type: "multi", env_provider_type: "gateway" } },
    ],
    tree: {
      ...server("a"),
      ...site("s"),
      ...multi("m", 'mcp_server_envs = ["a", "shop", "gone"]\nwebsite_envs = ["s"]\n'),
      ...deploying("m"),
    },
    lines: [
      'type-changed envs/a: "<root>/a" is an env of type multi in the store, and this is a mcp_server: an id keeps its type, so rename the folder',
      'stored-kind envs/m: mcp_server_envs[1]: "shop" is of type website in the store, and the field takes an env of type mcp_server',
      'not-stored envs/m: mcp_server_envs[2]: there is no env "gone" in this bundle or in the store',
    ],
  },
];
