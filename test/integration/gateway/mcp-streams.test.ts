import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  messagesIn,
  modernBody,
  modernHeaders,
  type OpenStream,
  openedSession,
  post,
  raw,
  said,
  streamFrom,
} from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type ModernFixture, modernFixture } from "../../fixtures/gateway/modern-server.ts";
import { until } from "../../fixtures/until.ts";

const RESOURCES = { subscribe: true, listChanged: true };
const updated = (uri: string) => ({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
const line = (level: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { level, data: level } });

afterAll(endHosts);

describe.each(HOSTS)("streams on the $host host", ({ start }) => {
  let legacy: McpFixture;
  let modern: ModernFixture;
  let gateway: RunningGateway;
  let release = Promise.withResolvers<void>();
  const open: OpenStream[] = [];
  beforeAll(async () => {
    legacy = await oldServer();
    modern = await newServer();
    gateway = await start({
      record: {
        servers: [
          { name: "old", kind: "mcp", url: legacy.url },
          { name: "new", kind: "mcp", url: modern.url },
        ],
      },
    });
  });
  const oldServer = (port?: number) =>
    mcpFixture({
      name: "old",
      port,
      capabilities: { tools: {}, resources: RESOURCES, logging: {} },
      streams: true,
      tools: [
        [
          { name: "old_wait" },
          async ({ say }) => {
            say(line("info"));
            await release.promise;
            return text("waited");
          },
        ],
      ],
      more: {
        "resources/list": () => ({ resources: [{ uri: "old://r", name: "r" }] }),
        "resources/templates/list": () => ({ resourceTemplates: [] }),
        "resources/subscribe": () => ({}),
        "resources/unsubscribe": () => ({}),
        "logging/setLevel": () => ({}),
      },
    });
  const newServer = (port?: number) =>
    modernFixture({
      port,
      capabilities: { tools: { listChanged: true }, resources: RESOURCES },
      more: {
        "resources/list": () => ({ resources: [{ uri: "new://r", name: "r" }] }),
        "resources/templates/list": () => ({ resourceTemplates: [] }),
      },
    });
  afterAll(async () => {
    for (const stream of open) stream.close();
    await gateway.stop();
    await Promise.all([legacy.close(), modern.close()]);
  });
  const kept = (stream: OpenStream): OpenStream => {
    open.push(stream);
    return stream;
  };
  const has = (stream: OpenStream, method: string) => stream.messages.some((message) => message["method"] === method);
  const listen = (notifications: object, id: unknown = "l1") => {
    const message = { id, method: "subscriptions/listen", params: { notifications } };
    return kept(streamFrom(gateway, { method: "POST", headers: modernHeaders(message), body: JSON.stringify(modernBody(message)) }));
  };

  test("a legacy session is told of a resource that it subscribed to, of servers of both eras, and no longer after", async () => {
    const session = await openedSession(gateway);
    const stream = kept(streamFrom(gateway, { headers: session }));
    const send = (method: string, uri: string) => post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method, params: { uri } }, session);
    for (const uri of ["old://r", "new://r"]) expect(messagesIn(await send("resources/subscribe", uri))).toMatchObject([{ result: {} }]);
    const told = (uri: string) => stream.messages.filter((message) => JSON.stringify(message) === JSON.stringify(updated(uri))).length;
    await until("the updates have come", 10_000, () => {
      legacy.push(updated("old://r"));
      modern.push(updated("new://r"));
      return told("old://r") > 0 && told("new://r") > 0;
    });
    // what a server says in one stream arrives in order
    const fence = async (level: string) => {
      legacy.push(line(level));
      await until("all that was said before", 10_000, () => JSON.stringify(stream.messages).includes(`"level":"${level}"`));
    };
    await fence("alert");
    await send("resources/unsubscribe", "old://r");
    const before = told("old://r");
    legacy.push(updated("old://r"));
    await fence("emergency");
    expect(told("old://r")).toBe(before);
  });

  test("a modern listen is acknowledged first, says its id with everything, and tells of subscribed resources only", async () => {
    const stream = listen({ resourceSubscriptions: ["old://r", "new://r"], toolsListChanged: true, other: true });
    await until("the acknowledgement", 10_000, () => stream.messages.length > 0);
    expect(stream.messages[0]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ["old://r", "new://r"] },
        _meta: { "io.modelcontextprotocol/subscriptionId": "l1" },
      },
    });
    await until("the updates have come", 10_000, () => {
      legacy.push(updated("old://r"));
      legacy.push(updated("old://other"));
      modern.push(updated("new://r"));
      const seen = JSON.stringify(stream.messages);
      return seen.includes('{"uri":"old://r"') && seen.includes('{"uri":"new://r"');
    });
    const updates = stream.messages.filter(({ method }) => method === "notifications/resources/updated");
    expect(new Set(updates.map(({ params }) => JSON.stringify(params)))).toEqual(
      new Set(["old://r", "new://r"].map((uri) => JSON.stringify({ uri, _meta: { "io.modelcontextprotocol/subscriptionId": "l1" } }))),
    );
  });

  test("F35 a listen is told that the tools changed, and only if it asked", async () => {
    const asked = listen({ toolsListChanged: true });
    const other = listen({ promptsListChanged: true, resourcesListChanged: true }, 7);
    await until("both are acknowledged", 10_000, () => asked.messages.length + other.messages.length === 2);
    legacy.tools.set("old_new", { tool: { name: "old_new", inputSchema: { type: "object" } }, handler: () => text("") });
    await until("the change was told", 10_000, () => {
      legacy.push({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return has(asked, "notifications/tools/list_changed");
    });
    expect(has(other, "notifications/tools/list_changed")).toBe(false);
    expect(asked.messages.at(-1)).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
      params: { _meta: { "io.modelcontextprotocol/subscriptionId": "l1" } },
    });
  });

  test("a listen that is closed ends what was opened for it upstream", async () => {
    const before = modern.listens;
    const stream = listen({ resourceSubscriptions: ["new://r"] });
    await until("the upstream listen is open", 10_000, () => modern.listens > before);
    stream.close();
    await until("it is closed again", 10_000, () => modern.listens === before);
  });

  test("F43 an idle stream gets bytes at once, then comments, and stays open", async () => {
    const stream = listen({ toolsListChanged: true });
    await until("two comments", 10_000, () => stream.text().split(": still here\n\n").length > 2);
    expect(stream.text().startsWith(": open\n\n")).toBe(true);
    expect(stream.messages.length).toBe(1);
  });

  test("a listen and a session's subscription outlive a restart of the server", async () => {
    // a stream that ends within its first second says nothing of its server; these are older by now
    const session = await openedSession(gateway);
    const stream = kept(streamFrom(gateway, { headers: session }));
    await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "old://r" } }, session);
    const listening = listen({ resourceSubscriptions: ["old://r", "new://r"] });
    await until("it is acknowledged", 10_000, () => listening.messages.length > 0);
    const both = () => {
      legacy.push(updated("old://r"));
      modern.push(updated("new://r"));
      const seen = JSON.stringify(listening.messages);
      return has(stream, "notifications/resources/updated") && seen.includes('"old://r","_meta"') && seen.includes('"new://r","_meta"');
    };
    await until("the updates have come", 10_000, both);
    await Promise.all([legacy.close(), modern.close()]);
    await until("both are known to be down", 20_000, async () => (await raw(gateway, "/health")).text.split('"down"').length > 2);
    [legacy, modern] = await Promise.all([oldServer(legacy.port), newServer(modern.port)]);
    for (const { messages } of [stream, listening]) messages.length = 0;
    await until("the updates come again", 20_000, both);
  });

  test("a reply whose stream was lost is found behind its last event, by the same session only", async () => {
    release = Promise.withResolvers<void>();
    const session = await openedSession(gateway);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "old_wait" } });
    const first = streamFrom(gateway, { method: "POST", headers: session, body });
    await until("the log line has come", 10_000, () => first.messages.length === 1);
    const ids = [...first.text().matchAll(/^id: (\S+)$/gm)].map(([, id]) => id ?? "");
    expect(ids.length).toBe(2);
    first.close();
    release.resolve();
    const stranger = await openedSession(gateway);
    const others = kept(streamFrom(gateway, { headers: { ...stranger, "last-event-id": ids[1] ?? "" } }));
    const second = streamFrom(gateway, { headers: { ...session, "last-event-id": ids[1] ?? "" } });
    await second.ended;
    expect(second.messages.map(({ id, result }) => [id, said(result)])).toEqual([[5, "waited"]]);
    const whole = streamFrom(gateway, { headers: { ...session, "last-event-id": ids[0] ?? "" } });
    await whole.ended;
    expect(whole.messages.map(({ id, method }) => id ?? method)).toEqual(["notifications/message", 5]);
    expect(others.messages).toEqual([]);
  });

  test("F37 an unbidden log line goes to the streams of sessions that want its level", async () => {
    release = Promise.withResolvers<void>();
    release.resolve();
    const sessions = [await openedSession(gateway), await openedSession(gateway)] as const;
    const [all, some] = sessions.map((headers) => kept(streamFrom(gateway, { headers }))) as [OpenStream, OpenStream];
    const send = (session: Record<string, string>, method: string, params: object) =>
      post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method, params }, session);
    await send(sessions[1], "logging/setLevel", { level: "error" });
    for (const session of sessions) await send(session, "tools/call", { name: "old_wait" });
    for (const headers of sessions) kept(streamFrom(gateway, { headers }));
    const streams = open.slice(-2) as [OpenStream, OpenStream];
    const levels = (stream: OpenStream) => new Set(stream.messages.map(({ params }) => (params as { level: string }).level));
    await until("lines have come", 10_000, () => {
      legacy.push(line("info"));
      legacy.push(line("error"));
      return levels(streams[0]).size === 2 && levels(streams[1]).size > 0;
    });
    expect(levels(streams[1])).toEqual(new Set(["error"]));
    await Promise.all([all.ended, some.ended]);
  });

  test("N6 what a server asks outside of any call goes to the session's stream, and the answer back to that server alone", async () => {
    release = Promise.withResolvers<void>();
    release.resolve();
    const session = await openedSession(gateway, { capabilities: { roots: {} } });
    const stream = kept(streamFrom(gateway, { headers: session }));
    await until("it is open", 10_000, () => stream.text() !== "");
    await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "old_wait" } }, session);
    await until("the question has come", 10_000, () => {
      legacy.push({ jsonrpc: "2.0", id: "s1", method: "roots/list" });
      return has(stream, "roots/list");
    });
    const id = stream.messages.find(({ method }) => method === "roots/list")?.["id"];
    expect(id).not.toBe("s1");
    const answers = () => legacy.received.filter(({ body }) => body.toString().includes("file:///mine"));
    const stranger = await openedSession(gateway);
    const result = { roots: [{ uri: "file:///mine" }] };
    expect((await post(gateway, "/mcp", { jsonrpc: "2.0", id, result }, stranger)).status).toBe(202);
    expect(answers()).toEqual([]);
    await post(gateway, "/mcp", { jsonrpc: "2.0", id, result }, session);
    await until("the server has its answer", 10_000, () => answers().length === 1);
    expect(JSON.parse(answers()[0]?.body.toString() ?? "")).toEqual({ jsonrpc: "2.0", id: "s1", result });
  });

  test("F38 GET is a stream for a session, else 405", async () => {
    const session = await openedSession(gateway);
    const stream = kept(streamFrom(gateway, { headers: session }));
    await until("it is open", 10_000, () => stream.text() !== "");
    expect((await raw(gateway, "/mcp", { headers: { accept: "text/event-stream" } })).status).toBe(405);
  });
});
