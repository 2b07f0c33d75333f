import { jsonOf } from "@agent-env/protocol";
import { z } from "zod";
import type { Attempt } from "../deploy/readiness.ts";

const Said = z.looseObject({ error: z.string() });

/** What a GET of an address is answered with. */
export type Get = (url: string, signal: AbortSignal) => Promise<{ readonly status: number; readonly text: string }>;

/** Over the network. */
export const getOverNetwork: Get = async (url, signal) => {
  const response = await fetch(url, { signal, redirect: "manual" });
  return { status: response.status, text: await response.text() };
};

/**
 * Whether the gateway answers, and reads KV and R2: it has to say that it knows no deployment of a name that no deployment
 * has, for which it looks in both.
 */
export function knowsNo(deployment: string, address: string, get: Get): Attempt {
  return async (signal) => {
    const { status, text } = await get(`${address}/d/${deployment}/health`, signal);
    const said = Said.safeParse(jsonOf(text)).data?.error ?? "something that isn't ours";
    return status === 404 && said === `Unknown deployment: ${deployment}` ? null : `HTTP ${status}: ${said}`;
  };
}
