import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { WorkersOut } from "./in-out.ts";

const listenersOf = (request: Request) => getEventListeners(request.signal, "abort").length;

test.each<[string, (out: WorkersOut) => unknown]>([
  ["a reply", (out) => out.reply(200, [], "text")],
  ["a stream", (out) => out.stream(200, [])],
  ["a response from elsewhere", (out) => out.respond(new Response("text"))],
])("nothing listens any more to a request that has %s", async (_what, answer) => {
  const request = new Request("http://gateway.invalid/");
  const out = new WorkersOut(request);
  expect(listenersOf(request)).toBe(1);
  answer(out);
  await out.response;
  // workerd keeps what a listener sees: each request that is over would cost some 10 kB for a long while
  expect(listenersOf(request)).toBe(0);
});

test("a client that resets its connection before it has an answer is gone, once", () => {
  const client = new AbortController();
  const out = new WorkersOut(new Request("http://gateway.invalid/", { signal: client.signal }));
  let times = 0;
  out.onGone(() => times++);
  client.abort();
  expect(times).toBe(1);
});
