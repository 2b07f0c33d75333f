import { UserError } from "@agent-env/protocol";
import { z } from "zod";
import { byCodePoint } from "../../bundle/code-points.ts";
import type { Projections } from "../store.ts";
import { type Api, type ApiAnswer, resultOf } from "./api.ts";

/** Cloudflare's limits of one bulk request. */
const KEYS_A_WRITE = 10_000;
const BYTES_A_WRITE = 90_000_000;
const KEYS_A_READ = 100;
/** A bulk request may be done in part; what is left is sent again. */
const ROUNDS = 5;

const NAMESPACE_NOT_FOUND = 10013;

const Bulk = z.object({ unsuccessful_keys: z.array(z.string()).default([]) }).nullable();
const Values = z.object({ values: z.record(z.string(), z.string().nullable()) });

/** KV over its REST API. `beforeWrite` may throw to stop a writer that has no right to write any more. */
export function projectionsOver(api: Api, target: string, namespaceId: string, beforeWrite: () => void): Projections {
  const path = `/storage/kv/namespaces/${encodeURIComponent(namespaceId)}`;
  const named = (answer: ApiAnswer): ApiAnswer => {
    if (!answer.codes.includes(NAMESPACE_NOT_FOUND)) return answer;
    throw new UserError({
      what: `${target}: there is none`,
      why: `Cloudflare answered ${answer.status} (code ${NAMESPACE_NOT_FOUND})`,
      next: "look at kv_namespace_id of [stores] records, or make one: agent-env store init",
      exitCode: 2,
    });
  };

  async function bulk(method: "PUT" | "POST", end: string, keys: readonly string[], body: (key: string) => unknown): Promise<void> {
    let left = keys;
    for (let round = 0; round < ROUNDS && left.length > 0; round++) {
      const answer = named(await api({ method, path: `${path}${end}`, body: left.map(body) }));
      left = resultOf(`${target}: ${method} ${end}`, answer, Bulk)?.unsuccessful_keys ?? [];
    }
    if (left.length === 0) return;
    throw new UserError({
      what: `${target}: ${left.length} of ${keys.length} keys were not written`,
      why: `${ROUNDS} times KV named them as unsuccessful, the first is ${JSON.stringify(left[0])}`,
      next: "run it again later: agent-env store sync",
    });
  }

  async function putAll(values: ReadonlyMap<string, string>): Promise<void> {
    beforeWrite();
    for (const keys of bySize(values)) await bulk("PUT", "/bulk", keys, (key) => ({ key, value: values.get(key) }));
  }

  async function removeAll(keys: readonly string[]): Promise<void> {
    beforeWrite();
    for (const some of inGroups(keys, KEYS_A_WRITE)) await bulk("POST", "/bulk/delete", some, (key) => key);
  }

  return {
    async get(key) {
      const answer = named(await api({ method: "GET", path: `${path}/values/${encodeURIComponent(key)}` }));
      if (answer.status === 404) return null;
      if (answer.status < 400) return answer.text;
      return resultOf(`${target}: GET ${key}`, answer, z.string());
    },
    put: (key, value) => putAll(new Map([[key, value]])),
    remove: (key) => removeAll([key]),
    async list(prefix) {
      const found: string[] = [];
      let cursor = "";
      do {
        const query = new URLSearchParams({ limit: "1000", prefix, ...(cursor === "" ? {} : { cursor }) });
        const answer = named(await api({ method: "GET", path: `${path}/keys?${query}` }));
        found.push(...resultOf(`${target}: GET /keys`, answer, z.array(z.object({ name: z.string() }))).map(({ name }) => name));
        cursor = z.object({ result_info: z.object({ cursor: z.string().default("") }) }).parse(JSON.parse(answer.text)).result_info.cursor;
      } while (cursor !== "");
      return found.sort(byCodePoint);
    },
    async getAll(keys) {
      const found = new Map<string, string>();
      for (const some of inGroups(keys, KEYS_A_READ)) {
        const answer = named(await api({ method: "POST", path: `${path}/bulk/get`, body: { keys: some, type: "text" } }));
        const { values } = resultOf(`${target}: POST /bulk/get`, answer, Values);
        for (const [key, value] of Object.entries(values)) if (value !== null) found.set(key, value);
      }
      return found;
    },
    putAll,
    removeAll,
  };
}

function inGroups(keys: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, group) => keys.slice(group * size, (group + 1) * size));
}

function bySize(values: ReadonlyMap<string, string>): string[][] {
  const groups: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [key, value] of values) {
    // In JSON a text may grow to six times its length.
    const own = 6 * (Buffer.byteLength(key) + Buffer.byteLength(value)) + 20;
    const group = groups.at(-1);
    if (group === undefined || group.length === KEYS_A_WRITE || bytes + own > BYTES_A_WRITE) {
      groups.push([key]);
      bytes = own;
    } else {
      group.push(key);
      bytes += own;
    }
  }
  return groups;
}
