/** What editors show for a key of a toml: by type (`multi.name`), else by kind (`env.environment_name`). */
export const TOML_HELP: Readonly<Record<string, string>> = {
  type: "The type of the entry.",
  id: 'The id, where it isn\'t to follow from the folder: it starts with "@local/".',

  "env.environment_name": "The server's name: a host name and part of a path. Left out: the name on the card in the image's source.",
  "env.env_provider_type": 'What deploys it: "gateway" (the default) or "server", one MCP server without a gateway.',
  "mcp_server.image": "The image. Left out: built from the folder's Dockerfile.",
  "website.backend_image": "The image with pages, API, tools and data. Left out: built from Dockerfile.backend.",
  "website.frontend_image": "The image that serves the pages. Left out: built from Dockerfile.frontend.",
  "multi.mcp_server_envs": "The MCP servers, by name or id.",
  "multi.website_envs": "The websites, by name or id.",
  "multi.name": "The env's name, without white space. Left out: drawn at each deploy.",

  "agent.image": "The image. Left out: built from the folder's Dockerfile.",
  "agent.default_env_vars": "Variables of the agent, unless a task sets them.",
  "agent.metadata": "What a deploy has to know: default_model, min_disk_size_gb, takes_credentials.",

  "artifact.description": "What it is for.",
  "environment.environment_name": "The server that the data is for.",
  "environment.file": "A file artifact with the data, instead of a file in this folder.",
  "environment_universe.environment_artifacts": "Environment artifacts beside those of the folders.",

  "eval.tasks": "The tasks, by name.",
};
