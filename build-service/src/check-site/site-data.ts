import { joined, Part, UserError } from "@agent-env/protocol";
import { z } from "zod";
import { postJson } from "../run/post-json.ts";

const BUDGET_MS = 900_000;

const Answer = z.looseObject({
  result: z.looseObject({ parts: z.array(Part).optional() }).nullish(),
  error: z.looseObject({ message: z.string() }).nullish(),
});

/** The data of a deployment's servers as it was at the start of a check. */
export type SiteData = {
  /** Gives it back to them: nothing of what a walk has changed is left. */
  restore(signal: AbortSignal): Promise<void>;
  /** Why it can't be given back; null where it can. */
  readonly lacking: string | null;
};

/** Reads the data of all servers behind a gateway, over its data plane (3-wire §plane), to give it back before each walk. */
export async function keptData(
  gatewayUrl: string,
  { signal, headers }: { readonly signal: AbortSignal; headers(): Promise<Readonly<Record<string, string>>> },
): Promise<SiteData> {
  const url = joined(gatewayUrl, "/agentenv");
  const call = async (method: string, params: object, signal: AbortSignal) => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    return Answer.parse(await postJson(url, body, { timeoutMs: BUDGET_MS, signal, headers: await headers() }));
  };
  const must = async (method: string, params: object, until: AbortSignal): Promise<void> => {
    const { error } = await call(method, params, until);
    if (!error) return;
    throw new UserError({
      what: `${url}: ${method} was answered with an error: ${error.message}`,
      why: "the data that the servers had at the start is given back before each walk",
      next: "look at what data/get answers there: data/add has to take it",
    });
  };
  const { result, error } = await call("data/get", {}, signal);
  if (error) return { lacking: error.message, restore: async () => {} };
  const parts = result?.parts ?? [];
  return {
    lacking: null,
    async restore(until) {
      await must("data/reset", {}, until);
      if (parts.length > 0) await must("data/add", { parts }, until);
    },
  };
}
