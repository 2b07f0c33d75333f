import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Grant } from "@agent-env/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { ObjectWriter } from "./object-writer.ts";
import { readObject, writeObject } from "./objects.ts";
import { send } from "./send.ts";

const LATER = "2100-01-01T00:00:00Z";
const PAST = "2020-01-01T00:00:00Z";
const AT_ONCE = [0, 0];

type Received = { readonly method: string; readonly headers: Readonly<Record<string, unknown>>; readonly body: Buffer };

/** A store that answers each request by the next of these; keeps what it received. */
async function store(...answers: ((response: ServerResponse) => void)[]): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ method: request.method ?? "", headers: request.headers, body: Buffer.concat(chunks) });
    const answer = answers[Math.min(received.length, answers.length) - 1];
    answer?.(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/put`, received };
}

const status =
  (code: number, body = "") =>
  (response: ServerResponse) =>
    void response.writeHead(code).end(body);
const breaks = (response: ServerResponse) => void response.destroy();
const breaksLater = (response: ServerResponse) => {
  response.writeHead(200, { "Content-Length": 10 }).write("half", () => response.destroy());
};

/** Code, status and whether it may be tried again, of a transfer that fails. */
async function failure(transfer: Promise<unknown>): Promise<unknown> {
  const error = await transfer.then(
    () => "it succeeded",
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error) || !("fields" in error) || !("status" in error)) return error;
  return { ...Object(error.fields), status: error.status };
}
const failed = (code: string, httpStatus: number, message: string, retryable = false) => ({
  code,
  message,
  retryable,
  applied: "no",
  status: httpStatus,
});

const grant = (url: string, over: Partial<Grant> = {}): Grant => ({
  root_path: "runs/7",
  expires_at: LATER,
  max_objects: 2,
  max_object_bytes: 10,
  max_total_bytes: 15,
  write: { kind: "http-post-policy", url, fields: { policy: "p", key: "runs/7/$" }, path_field: "key", file_field: "file" },
  ...over,
});

describe("tries", () => {
  const get = (url: string) => send({ url, expiresAt: LATER, request: () => ({}), waitsMs: AT_ONCE }, (answer) => answer.text());

  test.each([
    ["408", status(408)],
    ["429", status(429)],
    ["500", status(500)],
    ["503", status(503)],
    ["a 400 that says RequestTimeout", status(400, "<Code>RequestTimeout</Code>")],
    ["a broken connection", breaks],
    ["a body that breaks off", breaksLater],
  ])("%s is tried again", async (_name, answer) => {
    const { url, received } = await store(answer, status(200, "done"));
    expect(await get(url)).toBe("done");
    expect(received).toHaveLength(2);
  });

  test.each([
    [400, "the store answered 400"],
    [403, "the store answered 403"],
  ])("%d is not", async (code, message) => {
    const { url, received } = await store(status(code));
    expect(await failure(get(url))).toEqual(failed("transfer_rejected", 502, message));
    expect(received).toHaveLength(1);
  });

  test("a redirect is not followed", async () => {
    const elsewhere = await store(status(200));
    const { url } = await store((response) => void response.writeHead(307, { Location: elsewhere.url }).end());
    expect(await failure(get(url))).toEqual(failed("transfer_rejected", 502, "the store answered 307"));
    expect(elsewhere.received).toEqual([]);
  });

  test("there are three at most", async () => {
    const { url, received } = await store(status(503));
    expect(await failure(get(url))).toEqual(failed("transfer_unavailable", 502, "the store answered 503", true));
    expect(received).toHaveLength(3);
  });

  test("nothing is sent once the grant has expired", async () => {
    const { url, received } = await store(status(200));
    const late = send({ url, expiresAt: PAST, request: () => ({}) }, (answer) => answer.text());
    expect(await failure(late)).toEqual(failed("grant_expired", 410, "the grant has expired"));
    expect(received).toEqual([]);
  });

  test("a store that never answers is given up", async () => {
    const { url } = await store(() => undefined);
    const never = send({ url, expiresAt: LATER, request: () => ({}), waitsMs: AT_ONCE, attemptBudgetMs: 20 }, (answer) => answer.text());
    expect(await failure(never)).toEqual(failed("transfer_timeout", 504, "the store took longer than 0.02 s", true));
  });
});

describe("objects under a grant", () => {
  const form = async ({ headers, body }: Received) => {
    const type = String(headers["content-type"]);
    return [...(await new Response(Uint8Array.from(body), { headers: { "Content-Type": type } }).formData())];
  };

  test("are posted with the grant's fields, and named by a part", async () => {
    const { url, received } = await store(status(204));
    const part = await new ObjectWriter(grant(url)).write("a/b.json", Buffer.from("{}"), { name: "b", mimeType: "application/json" });
    expect(part).toEqual({
      kind: "file",
      file: { uri: "a/b.json", name: "b", mimeType: "application/json" },
      metadata: { "urn:agentenv:data-objects/v1": { path: "a/b.json" } },
    });
    const [post] = received;
    const fields = post === undefined ? [] : await form(post);
    expect(fields.slice(0, -1)).toEqual([
      ["Content-Type", "application/json"],
      ["policy", "p"],
      ["key", "runs/7/a/b.json"],
    ]);
    const [name, file] = fields.at(-1) ?? [];
    expect([name, file instanceof File ? [file.name, file.type, await file.text()] : file]).toEqual([
      "file",
      ["b.json", "application/json", "{}"],
    ]);
  });

  test.each(["/a", "../a", "a//b", "a\\b", ""])("%j is no path under a grant", async (path) => {
    const { url, received } = await store(status(204));
    expect(await failure(new ObjectWriter(grant(url)).write(path, Buffer.from("x")))).toEqual(
      failed("invalid_transfer", 400, `${JSON.stringify(path)} is no path under the grant's root`),
    );
    expect(received).toEqual([]);
  });

  test("stay within its limits; one that is written again counts once, one that failed not at all", async () => {
    const { url } = await store(status(403), status(204));
    const writer = new ObjectWriter(grant(url));
    const bytes = (count: number) => Buffer.alloc(count);
    const refused = (path: string, count: number, limit: string) =>
      failed("transfer_too_large", 413, `"${path}" of ${count} bytes is more than the grant allows: ${limit}`);
    expect(await failure(writer.write("lost", bytes(9)))).toMatchObject({ code: "transfer_rejected" });
    expect(await failure(writer.write("a", bytes(11)))).toEqual(refused("a", 11, "10 bytes an object"));
    await Promise.all([writer.write("a", bytes(10)), writer.write("a", bytes(9)), writer.write("b", bytes(6))]);
    expect(await failure(writer.write("b", bytes(7)))).toEqual(refused("b", 7, "15 bytes in all"));
    expect(await failure(writer.write("c", bytes(0)))).toEqual(refused("c", 0, "2 objects"));
  });
});

describe("single objects", () => {
  const text = "hello";
  const sha256 = createHash("sha256").update(text).digest("hex");
  const offered = (url: string, over = {}) => ({
    media_type: "text/plain",
    max_bytes: 5,
    read: { kind: "http-get" as const, url, expires_at: LATER, headers: { "X-Key": "k" } },
    ...over,
  });

  test("are read with the caller's headers, and checked", async () => {
    const { url, received } = await store(status(200, text));
    expect(Buffer.from(await readObject(offered(url, { size_bytes: 5, sha256 }))).toString()).toBe(text);
    expect(received[0]?.headers["x-key"]).toBe("k");
  });

  test.each([
    [{ max_bytes: 4 }, failed("transfer_too_large", 413, "the object is larger than the 4 bytes that are allowed")],
    [{ size_bytes: 4 }, failed("integrity_mismatch", 422, "the object has 5 bytes, and its caller says 4")],
    [{ sha256: "0".repeat(64) }, failed("integrity_mismatch", 422, "the object's digest is another than its caller says")],
  ])("%j is told", async (over, expected) => {
    const { url } = await store(status(200, text));
    expect(await failure(readObject(offered(url, over)))).toEqual(expected);
  });

  test("are written once more when the store was busy, and never above the limit", async () => {
    const { url, received } = await store(status(503), status(200));
    const wanted = {
      media_type: "text/plain",
      max_bytes: 5,
      write: { kind: "http-put" as const, url, expires_at: LATER, headers: { "X-Key": "k" } },
    };
    await writeObject(wanted, Buffer.from(text), AT_ONCE);
    expect(received.map(({ method, headers, body }) => [method, headers["content-type"], headers["x-key"], body.toString()])).toEqual([
      ["PUT", "text/plain", "k", text],
      ["PUT", "text/plain", "k", text],
    ]);
    expect(await failure(writeObject(wanted, Buffer.from("hello!")))).toEqual(
      failed("transfer_too_large", 413, "the object is larger than the 5 bytes that are allowed"),
    );
  });
});
