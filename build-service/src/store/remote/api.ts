import { UserError } from "@agent-env/protocol";
import { z } from "zod";
import type { Exchange } from "./exchange.ts";
import { type CloudflareRecords, namespaceName } from "./setting.ts";

export type ApiRequest = {
  readonly method: "GET" | "PUT" | "POST";
  /** Below the account, with its slash: `/storage/kv/namespaces`. */
  readonly path: string;
  readonly body?: unknown;
};
export type ApiAnswer = {
  readonly status: number;
  /** As text: a value of KV is given as it is. */
  readonly text: string;
  /** Cloudflare's codes of an error. */
  readonly codes: readonly number[];
};

/** Sends requests to Cloudflare's REST API below the account. Throws a UserError for 401 and 403; gives every other answer. */
export type Api = (request: ApiRequest) => Promise<ApiAnswer>;

const Success = z.object({ result: z.unknown() });
const Envelope = z.object({ success: z.boolean(), errors: z.array(z.object({ code: z.number() })).default([]) });

/** `target` is what messages are about. */
export function apiOver(setting: CloudflareRecords, exchange: Exchange, target = namespaceName(setting)): Api {
  return async ({ method, path, body }) => {
    const what = `${method} ${path}`;
    const { answer } = await exchange({
      target,
      what,
      conflict: "answer",
      build: async () => ({
        method,
        url: `${setting.endpoints.api}/accounts/${encodeURIComponent(setting.accountId)}${path}`,
        headers: new Headers({
          authorization: `Bearer ${setting.apiToken}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        }),
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    });
    const text = new TextDecoder().decode(answer.body);
    const { status } = answer;
    if (status < 400) return { status, text, codes: [] };
    const codes = codesOf(text);
    if (status !== 401 && status !== 403) return { status, text, codes };
    throw new UserError({
      what: `${target}: ${what}`,
      why: `Cloudflare answered ${answered(status, codes)}: the API token is wrong, or may not do that`,
      next: 'give api_token of [stores] records the permission "Workers KV Storage: Edit", then: agent-env doctor',
      exitCode: 2,
    });
  };
}

/** An answer's `result`. Throws a UserError for an answer that isn't good. */
export function resultOf<Schema extends z.ZodType>(what: string, answer: ApiAnswer, result: Schema): z.infer<Schema> {
  if (answer.status < 400) return result.parse(Success.parse(JSON.parse(answer.text)).result);
  throw new UserError({
    what,
    why: `Cloudflare answered ${answered(answer.status, answer.codes)}`,
    next: "look at account_id and kv_namespace_id of [stores] records, then: agent-env doctor",
  });
}

export const answered = (status: number, codes: readonly number[]): string =>
  `${status}${codes.length === 0 ? "" : ` (code ${codes.join(", ")})`}`;

function codesOf(text: string): number[] {
  try {
    return Envelope.parse(JSON.parse(text)).errors.map(({ code }) => code);
  } catch {
    // A proxy's own page has no code.
    return [];
  }
}
