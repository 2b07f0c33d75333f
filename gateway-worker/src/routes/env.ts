import { ROLE_HEADER, roleFromHeader } from "@agent-env/protocol";

/** What a host gives to the app beside the request: what the caller's path has before the app's. */
export type AppEnv = { Bindings: { readonly base?: string } };

/** The role that a request acts as. Repeated fields come joined by commas (RFC 9110 §5.3): the first counts. */
export function roleIn(context: { req: { header(name: string): string | undefined } }): string {
  return roleFromHeader(context.req.header(ROLE_HEADER)?.split(",")[0]);
}
