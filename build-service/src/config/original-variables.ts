import { UserError } from "@agent-env/protocol";

const STORE_VARIABLES = ["AGENT_ENV_DOCUMENT_STORE", "AGENT_ENV_OBJECT_STORE", "AGENT_ENV_IMAGE_STORE", "AGENT_ENV_SECRET_STORE"];

/** The original's variables for its stores: only `local` means the same here. Throws a UserError (exit code 2) for another. */
export function refuseOriginalVariables(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of STORE_VARIABLES) {
    const value = env[name];
    if (value === undefined || value === "" || value === "local") continue;
    throw new UserError({
      what: `${name}: ${JSON.stringify(value)} chooses no store here`,
      why: "the variable is the original's, and only local is accepted in it",
      next: "unset it, and write the store into [stores] of .agentenv/config.toml",
      exitCode: 2,
    });
  }
}
