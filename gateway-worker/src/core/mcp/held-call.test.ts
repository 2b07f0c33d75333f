import { expect, test } from "vitest";
import { HeldCall } from "./held-call.ts";

const elicitation = { jsonrpc: "2.0", id: 1, method: "elicitation/create", params: { message: "Name?", requestedSchema: {} } };
const roots = { jsonrpc: "2.0", id: 2, method: "roots/list" };
const never = new Promise<never>(() => undefined);

test("a question is shown without the server's ids, and answered to the server alone", async () => {
  const held = new HeldCall(() => undefined);
  void held.follow(never);
  const answer = held.asked(elicitation);
  expect(await held.next()).toEqual({
    questions: new Map([["q1", { method: "elicitation/create", params: { mode: "form", message: "Name?", requestedSchema: {} } }]]),
  });
  expect(held.answer({ q1: { action: "accept" }, other: {} })).toBe(true);
  expect(await answer).toEqual({ jsonrpc: "2.0", id: 1, result: { action: "accept" } });
});

test("with answers missing none is given", async () => {
  const held = new HeldCall(() => undefined);
  void held.follow(never);
  void held.asked(elicitation);
  void held.asked(roots);
  await held.next();
  expect(held.answer({ q1: {} })).toBe(false);
  expect([...held.questions().questions.keys()]).toEqual(["q1", "q2"]);
});

test("what the server asks before the client is back is the next question", async () => {
  const held = new HeldCall(() => undefined);
  void held.follow(never);
  void held.asked(elicitation);
  await held.next();
  void held.asked(roots);
  expect(held.answer({ q1: { action: "decline" } })).toBe(true);
  expect(await held.next()).toEqual({ questions: new Map([["q2", { method: "roots/list", params: {} }]]) });
});

test("a call that is given up is cancelled, its form as well, and roots are refused", async () => {
  const cancelled: string[] = [];
  const held = new HeldCall((reason) => cancelled.push(reason));
  void held.follow(never);
  const answers = [held.asked(elicitation), held.asked(roots)];
  held.giveUp("gone");
  expect(await Promise.all(answers)).toEqual([
    { jsonrpc: "2.0", id: 1, result: { action: "cancel" } },
    { jsonrpc: "2.0", id: 2, error: { code: -32603, message: "gone" } },
  ]);
  expect(cancelled).toEqual(["gone"]);
});

test("the outcome is the last step", async () => {
  const held = new HeldCall(() => undefined);
  const outcome = { reply: { jsonrpc: "2.0", id: 1, result: {} }, status: 200, isStream: false };
  await held.follow(Promise.resolve(outcome));
  expect(await held.next()).toEqual({ outcome });
});
