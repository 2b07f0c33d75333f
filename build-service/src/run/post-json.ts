import { request } from "node:http";
import { UserError } from "@agent-env/protocol";

/**
 * Posts JSON and gives the JSON that is answered with status 200. Unlike `fetch` it waits for headers as long as it is
 * told to: data of some GB takes minutes. Throws a UserError that names the address and the reason.
 */
export async function postJson(
  url: string,
  body: unknown,
  options: { timeoutMs: number; signal: AbortSignal; headers?: Readonly<Record<string, string>> },
): Promise<unknown> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) =>
      reject(
        new UserError(
          {
            what: `${url}: a POST was not answered with JSON and status 200`,
            why,
            next: "run it with --keep, and ask that address yourself",
          },
          { cause },
        ),
      );
    const sent = request(
      url,
      {
        method: "POST",
        headers: {
          ...options.headers,
          "content-type": "application/json",
          accept: "application/json",
          "content-length": String(new TextEncoder().encode(text).length),
        },
        timeout: options.timeoutMs,
        signal: options.signal,
      },
      (answer) => {
        const chunks: Uint8Array[] = [];
        answer.on("data", (chunk: Uint8Array) => chunks.push(chunk));
        answer.on("error", (error) => fail(error.message, error));
        answer.on("end", () => {
          const received = new TextDecoder().decode(concat(chunks));
          if (answer.statusCode !== 200) return fail(`HTTP ${answer.statusCode}: ${received.slice(0, 200)}`);
          try {
            resolve(JSON.parse(received));
          } catch (error) {
            fail(`not JSON: ${received.slice(0, 200)}`, error);
          }
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error(`nothing within ${options.timeoutMs / 1000} s`)));
    sent.on("error", (error) => (options.signal.aborted ? reject(error) : fail(error.message, error)));
    sent.end(text);
  });
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return all;
}
