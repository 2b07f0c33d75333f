import { describe, expect, test } from "vitest";
import type { ClientLine } from "../client-line.ts";
import { type Exchange, HeldCalls, type Outcome } from "./held-calls.ts";

const exchange = (signal = new AbortController().signal): Exchange => ({
  signal,
  capabilities: {},
  progressToken: undefined,
  logLevel: undefined,
  notify: () => Promise.resolve(),
});
const turn = (state?: string, responses = {}) => ({ asked: ["tools/call", "ask"], state, responses });
const form = { message: "?" };

/** The state and the keys of the questions that a call came to. */
function asked<T>(outcome: Outcome<T>): { state: string; keys: string[] } {
  if ("result" in outcome) throw new Error(`it ended: ${JSON.stringify(outcome.result)}`);
  return { state: outcome.state, keys: [...outcome.questions.keys()] };
}
const askOnce = async (line: ClientLine) => await line.ask({ method: "elicitation/create", params: form });

describe("a call that waits for an answer", () => {
  test("is told what it asked for, and its questions have keys of their own in every round", async () => {
    const held = new HeldCalls<unknown>();
    const twice = async (line: ClientLine) => [await askOnce(line), await askOnce(line)];
    const first = asked(await held.take(turn(), exchange(), twice));
    const second = asked(await held.take(turn(first.state, { "question-1": { a: 1 } }), exchange(), twice));
    expect([first.keys, second.keys]).toEqual([["question-1"], ["question-2"]]);
    expect(second.state).not.toBe(first.state);
    expect(await held.take(turn(second.state, { "question-2": { b: 2 } }), exchange(), twice)).toEqual({ result: [{ a: 1 }, { b: 2 }] });
  });

  test("may name its questions, each once at a time", async () => {
    const held = new HeldCalls<unknown>();
    const question = { method: "elicitation/create", params: form, key: "name" };
    const work = async (line: ClientLine) => await Promise.allSettled([line.ask(question), line.ask(question)]);
    const { state, keys } = asked(await held.take(turn(), exchange(), work));
    expect(keys).toEqual(["name"]);
    expect(await held.take(turn(state, { name: { a: 1 } }), exchange(), work)).toEqual({
      result: [
        { status: "fulfilled", value: { a: 1 } },
        { status: "rejected", reason: new Error('the question "name" is open already') },
      ],
    });
  });

  test("asks again what was left out", async () => {
    const held = new HeldCalls<unknown>();
    const both = async (line: ClientLine) => await Promise.all([askOnce(line), askOnce(line)]);
    const first = asked(await held.take(turn(), exchange(), both));
    const again = asked(await held.take(turn(first.state, { "question-2": { b: 2 } }), exchange(), both));
    expect([first.keys, again.keys]).toEqual([["question-1", "question-2"], ["question-1"]]);
    expect(await held.take(turn(again.state, { "question-1": { a: 1 } }), exchange(), both)).toEqual({ result: [{ a: 1 }, { b: 2 }] });
  });

  test.each([
    ["a state that was never given", (_state: string) => turn("0".repeat(32))],
    ["a state that was changed", (state: string) => turn(`${state.slice(0, -1)}${state.endsWith("0") ? "1" : "0"}`)],
    ["the state of another call", (state: string) => ({ ...turn(state), asked: ["tools/call", "other"] })],
  ])("%s is refused, and the call waits on", async (_name, other) => {
    const held = new HeldCalls<unknown>();
    const { state } = asked(await held.take(turn(), exchange(), askOnce));
    const never = () => Promise.reject(new Error("begun"));
    await expect(held.take(other(state), exchange(), never)).rejects.toMatchObject({
      code: -32602,
      message: "Invalid or expired requestState",
    });
    expect(await held.take(turn(state, { "question-1": { a: 1 } }), exchange(), never)).toEqual({ result: { a: 1 } });
  });

  test("F53 a state is used once", async () => {
    const held = new HeldCalls<unknown>();
    const { state } = asked(await held.take(turn(), exchange(), askOnce));
    await held.take(turn(state, { "question-1": { a: 1 } }), exchange(), askOnce);
    await expect(held.take(turn(state), exchange(), askOnce)).rejects.toThrow("Invalid or expired requestState");
  });

  test("gets `cancel` for a person's answer, and an error for any other, when nobody comes back", async () => {
    const held = new HeldCalls<unknown>(1);
    const ended = Promise.withResolvers<unknown>();
    const work = async (line: ClientLine) => {
      const answers = await Promise.allSettled([askOnce(line), line.ask({ method: "roots/list", params: {} })]);
      ended.resolve([answers, line.signal.aborted, await line.ask({ method: "roots/list", params: {} }).catch(String)]);
    };
    const { state } = asked(await held.take(turn(), exchange(), work));
    expect(await ended.promise).toEqual([
      [
        { status: "fulfilled", value: { action: "cancel" } },
        { status: "rejected", reason: new Error("roots/list: the client did not answer") },
      ],
      true,
      "Error: the client did not come back",
    ]);
    await expect(held.take(turn(state), exchange(), work)).rejects.toThrow("Invalid or expired requestState");
  });

  test("is cancelled by the request that goes on with it, not by those before", async () => {
    const held = new HeldCalls<unknown>();
    const signals: AbortSignal[] = [];
    const waiting = Promise.withResolvers<void>();
    const work = async (line: ClientLine) => {
      signals.push(line.signal);
      await askOnce(line);
      waiting.resolve();
      await new Promise((resolve) => line.signal.addEventListener("abort", resolve));
    };
    const [before, after] = [new AbortController(), new AbortController()];
    const { state } = asked(await held.take(turn(), exchange(before.signal), work));
    before.abort();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    const last = held.take(turn(state, { "question-1": {} }), exchange(after.signal), work);
    await waiting.promise;
    after.abort();
    expect(await last).toEqual({ result: undefined });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test("what it sends between two requests goes nowhere", async () => {
    const held = new HeldCalls<unknown>();
    const sent: string[] = [];
    const noting = (name: string): Exchange => ({ ...exchange(), notify: async (method) => void sent.push(`${name} ${method}`) });
    const between = Promise.withResolvers<void>();
    const work = async (line: ClientLine) => {
      await line.notify("one", {});
      const answer = askOnce(line);
      await between.promise;
      await line.notify("two", {});
      await answer;
      await line.notify("three", {});
    };
    const { state } = asked(await held.take(turn(), noting("first"), work));
    between.resolve();
    await new Promise(setImmediate);
    await held.take(turn(state, { "question-1": {} }), noting("second"), work);
    expect(sent).toEqual(["first one", "second three"]);
  });
});
