import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { program, said, temporaryFolder } from "../../../test/fixtures/sdk/programs.ts";
import { passThrough } from "./pass-through.ts";

beforeEach(() => {
  const spy = vi.spyOn(console, "error").mockReturnValue();
  return () => spy.mockRestore();
});

/** Listens on a free loopback port until the test ends; gives its address. */
async function listening(server: Server): Promise<URL> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** A front end before a backend that answers so. */
async function frontEndOf(backend: RequestListener): Promise<URL> {
  return await listening(passThrough(await listening(createServer(backend))));
}

/** Sends raw header fields; gives the answer with its raw ones. */
async function sent(
  url: URL,
  path: string,
  method: string,
  headers: readonly string[],
  body = "",
): Promise<IncomingMessage & { text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(url, { path, method, headers: ["Host", "shop.example", ...headers] }, resolve)
    .on("error", reject)
    .end(body);
  const answer = await promise;
  return Object.assign(answer, { text: (await answer.toArray()).join("") });
}

async function socketTo(url: URL): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

describe("requests", () => {
  test("method, target, headers and body arrive as they came", async () => {
    const url = await frontEndOf(async (incoming, outgoing) => {
      const body = (await incoming.toArray()).join("");
      outgoing.end(JSON.stringify({ method: incoming.method, url: incoming.url, raw: incoming.rawHeaders, body }));
    });
    const headers = [
      "X-Forwarded-Prefix",
      "/website/shop",
      "AgentEnv-Role",
      "alice",
      "Cookie",
      "a=1",
      "Cookie",
      "b=2",
      "Connection",
      "X-Hop",
      "X-Hop",
      "1",
    ];
    const { text } = await sent(url, "/a%2Fb//c?x=1&x=2&", "PUT", [...headers, "Content-Length", "5"], "hello");
    const seen = JSON.parse(text);
    expect(seen).toMatchObject({ method: "PUT", url: "/a%2Fb//c?x=1&x=2&", body: "hello" });
    expect(seen.raw.slice(0, 12)).toEqual([
      "Host",
      "shop.example",
      "X-Forwarded-Prefix",
      "/website/shop",
      "AgentEnv-Role",
      "alice",
      "Cookie",
      "a=1",
      "Cookie",
      "b=2",
      "Content-Length",
      "5",
    ]);
    expect(seen.raw).not.toContain("X-Hop");
  });

  test("a body is streamed while it is sent", async () => {
    const url = await frontEndOf((incoming, outgoing) => {
      incoming.once("data", (chunk) => outgoing.end(`got ${chunk}`));
    });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const upload = request(url, { method: "POST" }, resolve).on("error", reject);
    upload.write("first");
    expect((await (await promise).toArray()).join("")).toBe("got first");
    upload.destroy();
  });

  test("a client that leaves closes the request at the backend", async () => {
    const gone = Promise.withResolvers<void>();
    const url = await frontEndOf((incoming, outgoing) => {
      outgoing.on("close", () => gone.resolve());
      outgoing.write("start");
      incoming.resume();
    });
    const download = request(url).end();
    const [answer] = (await once(download, "response")) as [IncomingMessage];
    await once(answer, "data");
    download.destroy();
    await gone.promise;
  });
});

describe("answers", () => {
  test("status, repeated headers and bytes come back as they are", async () => {
    const url = await frontEndOf((_incoming, outgoing) => {
      outgoing.sendDate = false;
      outgoing.writeHead(418, "Short", [
        "Set-Cookie",
        "a=1",
        "Set-Cookie",
        "b=2",
        "X-Name",
        "caf\u00e9",
        "Content-Type",
        "text/plain",
        "Content-Length",
        "2",
      ]);
      // A buffer: with a string Node writes the head as UTF-8.
      outgoing.end(Buffer.from("hi"));
    });
    const answer = await sent(url, "/", "GET", []);
    expect([answer.statusCode, answer.statusMessage, answer.text]).toEqual([418, "Short", "hi"]);
    expect(answer.rawHeaders.slice(0, 10)).toEqual([
      "Set-Cookie",
      "a=1",
      "Set-Cookie",
      "b=2",
      "X-Name",
      "caf\u00e9",
      "Content-Type",
      "text/plain",
      "Content-Length",
      "2",
    ]);
  });

  test("the first chunk comes before the last is written", async () => {
    const rest = Promise.withResolvers<void>();
    const url = await frontEndOf(async (_incoming, outgoing) => {
      outgoing.write("first");
      await rest.promise;
      outgoing.end("last");
    });
    const [answer] = (await once(request(url).end(), "response")) as [IncomingMessage];
    const [chunk] = await once(answer, "data");
    expect(String(chunk)).toBe("first");
    rest.resolve();
    expect((await answer.toArray()).join("")).toBe("last");
  });

  test("HEAD has the length and no body", async () => {
    const url = await frontEndOf((_incoming, outgoing) => void outgoing.writeHead(200, { "Content-Length": 5 }).end());
    const answer = await sent(url, "/", "HEAD", []);
    expect([answer.headers["content-length"], answer.text]).toEqual(["5", ""]);
  });

  test("a body that breaks off is cut, not ended", async () => {
    const url = await frontEndOf((incoming, outgoing) => {
      outgoing.writeHead(200, { "Content-Length": 100 }).write("half");
      setImmediate(() => incoming.socket.destroy());
    });
    await expect(sent(url, "/", "GET", [])).rejects.toThrow("aborted");
  });

  test("a backend that is away is 502 with one line, without its address", async () => {
    const backend = createServer();
    const address = await listening(backend);
    backend.close();
    const answer = await sent(await listening(passThrough(address)), "/", "GET", []);
    expect([answer.statusCode, answer.text]).toEqual([502, "The site's backend does not answer (ECONNREFUSED).\n"]);
  });
});

describe("WebSockets", () => {
  test("the handshake and what follows pass both ways", async () => {
    const backend = createServer();
    backend.on("upgrade", (incoming, socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Seen: ${incoming.headers["sec-websocket-key"]} ${incoming.headers.host}\r\n\r\n`,
      );
      socket.on("data", (chunk) => socket.write(`echo ${chunk}`));
    });
    const socket = await socketTo(await listening(passThrough(await listening(backend))));
    socket.write("GET /live HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n");
    const [head] = await once(socket, "data");
    expect(String(head)).toContain("HTTP/1.1 101 Switching Protocols");
    expect(String(head)).toContain("X-Seen: k shop.example");
    socket.write("ping");
    expect(String((await once(socket, "data"))[0])).toBe("echo ping");
  });

  test("a refusal is passed on", async () => {
    const url = await frontEndOf((_incoming, outgoing) => void outgoing.writeHead(401, { "Content-Length": 0 }).end());
    const socket = await socketTo(url);
    socket.write("GET /live HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    expect((await socket.toArray()).join("")).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
  });
});

describe("as a program", () => {
  const entry = fileURLToPath(new URL("../front-end.ts", import.meta.url));

  test("it takes PORT, HOST and BACKEND_URL, and ends on SIGTERM", async () => {
    const backend = await listening(createServer((_incoming, outgoing) => void outgoing.end("page")));
    const front = program(entry, await temporaryFolder(), { HOST: "127.0.0.1", PORT: "0", BACKEND_URL: backend.href });
    const [, place = ""] = await said(front, /listens on (\S+)/);
    expect(await (await fetch(`http://${place}/`)).text()).toBe("page");
    front.child.kill("SIGTERM");
    expect(await front.exit).toBe(0);
  });

  test.each([
    [{ BACKEND_URL: "shop:8000" }, 'BACKEND_URL="shop:8000" is no http address'],
    [{ BACKEND_URL: "http://shop:8000", PORT: "x" }, 'PORT="x" is no port'],
  ])("%j ends it with 2 and a sentence", async (env, message) => {
    const front = program(entry, await temporaryFolder(), env);
    expect(await front.exit).toBe(2);
    expect(front.output()).toContain(message);
    expect(front.output()).not.toContain("    at ");
  });
});
