import { z } from "zod";

/** What a token may be good for (2-architecture, callers and tokens). `svc` is every server's raw API, `svc:<key>` one's. */
export const SCOPES = ["tools", "sites", "svc", "read", "control", "act-as"] as const;
export type Scope = (typeof SCOPES)[number] | `svc:${string}`;

/** Who a token is usually for. */
export const PRESETS = {
  agent: ["tools", "sites"],
  grader: ["tools", "sites", "svc", "read"],
  orchestrator: SCOPES,
} as const satisfies Readonly<Record<string, readonly Scope[]>>;
export type Preset = keyof typeof PRESETS;

/** How the signatures of a deployment's tokens are made. */
export const TOKEN_ALGORITHM = "EdDSA";
/** `typ` in a token's header (RFC 8725 §3.11): one kind is never taken for the other, nor another issuer's token for ours. */
export const TOKEN_TYPE = "agent-env+jwt";
export const PAGE_TOKEN_TYPE = "agent-env-page+jwt";
/** Where a link to a site has its page token, and the longest that one lasts. */
export const PAGE_PARAM = "agentenv_page";
export const PAGE_TOKEN_SECONDS = 300;

const MAX_NAME = 256;
/** The sealed id of a session has room for no longer one. */
const MAX_ROLE = 200;
/** A role travels in a header, where a comma would end it. */
const Role = z
  .string()
  .max(MAX_ROLE)
  .regex(/^[!-~](?:[ -~]*[!-~])?$/)
  .refine((role) => !role.includes(","));

/** What a token says of its caller. Further claims are nobody's here. */
export const TokenClaims = z.object({
  sub: z.string().min(1).max(MAX_NAME),
  role: Role,
  /** Separated by spaces, as in OAuth. */
  scope: z.string().transform((text): readonly Scope[] => text.split(" ").filter(isScope)),
  session: z.string().min(1).max(MAX_NAME).optional(),
  exp: z.number(),
});
export type TokenClaims = z.infer<typeof TokenClaims>;

/** What a page token says besides: which one it is, since it is accepted once, and when it was made. */
export const PageTokenClaims = TokenClaims.extend({ jti: z.string().min(1).max(MAX_NAME), iat: z.number() });

/** A public key of a deployment as its record holds it (RFC 8037). */
export const PublicKey = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string().regex(/^[\w-]{43}$/),
  kid: z.string().min(1),
});
export type PublicKey = z.infer<typeof PublicKey>;

/** Whether a name is a scope that there is. */
export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text) || /^svc:[^\s]+$/.test(text);
}

/** Whether scopes hold what is needed. */
export function holds(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.includes(needed) || (needed.startsWith("svc:") && scopes.includes("svc"));
}

/** Why a role can't be a token's; null if it can. */
export function tokenRoleProblem(role: string): string | null {
  return Role.safeParse(role).success ? null : `it has to be 1 to ${MAX_ROLE} visible ASCII characters without a comma`;
}
