import type { FolderTree } from "../../fixtures/folder.ts";

const card = (name: string): string => `import { environmentCard } from "@agent-env/sdk";\nenvironmentCard({ name: "${name}" });\n`;

/** A bundle with each kind of write. All of it is reached by its eval. */
export const EVERY_WRITE: FolderTree = {
  "envs/items/Dockerfile": "FROM base\nCOPY . .\n",
  "envs/items/server.ts": card("items"),
  "envs/shop/env.toml": 'type = "website"\n',
  "envs/shop/Dockerfile.backend": "FROM base\nCOPY . .\n",
  "envs/shop/Dockerfile.frontend": "FROM base\n",
  "envs/shop/Dockerfile.frontend.dockerignore": "server.ts\n",
  "envs/shop/server.ts": card("shop"),
  "envs/suite/env.toml": 'type = "multi"\nmcp_server_envs = ["items"]\nwebsite_envs = ["shop"]\n',
  "artifacts/check/check.ts": "export const verify = () => [];\n",
  "artifacts/docs/one.md": "1\n",
  "artifacts/docs/deep/two.md": "2\n",
  "artifacts/seed/artifact.toml": 'type = "environment_universe"\nenvironment_artifacts = ["stock"]\n',
  "artifacts/seed/shop/shop.json": "{}\n",
  "artifacts/seed/metadata/about/about.md": "All of it\n",
  "artifacts/stock/artifact.toml": 'type = "environment"\nenvironment_name = "items"\n',
  "artifacts/stock/items.json": "[]\n",
  "agents/helper/Dockerfile": "FROM base\n",
  "skills/notes/SKILL.md": "---\nname: notes\ndescription: How to take notes\n---\nBriefly.\n",
  "tasks/all.json": JSON.stringify([
    { id: "deploy", type: "deploy_env", env_id: "suite" },
    { id: "load", type: "load_artifact", env_id: "suite", artifact_id: "seed" },
    { id: "agent", type: "deploy_agent", a2a_agent_id: "helper", agent_name: "helper", env_ids: ["suite"] },
    { id: "give", type: "load_artifact", agent_name: "helper", artifacts: [{ id: "docs" }, { id: "notes" }] },
    { id: "check", type: "env_outcome_verifier", env_id: "suite", file_artifact_id: "check" },
  ]),
  "evals/everything.toml": 'tasks = ["all"]\n',
};

/** An edit of each kind of entry; the site's frontend, one environment of the universe and the eval stay as they are. */
export const EDIT: FolderTree = {
  "envs/items/server.ts": `${card("items")}// edited\n`,
  "envs/shop/server.ts": `${card("shop")}// edited\n`,
  "artifacts/check/check.ts": { run: "export const verify = () => [];\n" },
  "artifacts/docs/one.md": "1, edited\n",
  "artifacts/stock/items.json": "[1]\n",
  "agents/helper/agent.toml": 'default_env_vars = { MODE = "edited" }\n',
  "skills/notes/more.md": "At length.\n",
  "tasks/all.json": String(EVERY_WRITE["tasks/all.json"]).replace('"id":"load"', '"id":"fill"'),
};
