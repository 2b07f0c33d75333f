import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { NEVER_ABORTED } from "../../../build-service/src/bundle/pauses.ts";
import { init } from "../../../build-service/src/init/init.ts";
import { BUILT_IN } from "../../../build-service/src/types/registry.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { freePort } from "../../fixtures/free-port.ts";
import { until } from "../../fixtures/until.ts";

const Task = z.looseObject({ id: z.string(), status: z.looseObject({ message: z.looseObject({ parts: z.array(z.unknown()) }) }) });
const Answer = z.looseObject({ result: Task.optional() });

describe("the agent of init speaks A2A", () => {
  const place = temporaryFolder();
  let agent: ReturnType<typeof spawn>;
  let url: string;
  beforeAll(async () => {
    const { bundle } = await init({ kind: "agent", name: "parrot", cwd: place.path, registry: BUILT_IN, signal: NEVER_ABORTED });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const file = join(bundle, "agents", "parrot", "agent.ts");
    agent = spawn(process.execPath, [file], { env: { ...process.env, A2A_PORT: String(port), GREETING: "Heard" }, stdio: "ignore" });
    await until(
      "the agent serves its card",
      10_000,
      async () => (await fetch(`${url}/.well-known/agent.json`).catch(() => null))?.ok === true,
    );
  });
  afterAll(() => {
    agent.kill();
    place[Symbol.dispose]();
  });

  const call = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
    return Answer.parse(
      await (await fetch(`${url}/a2a`, { method: "POST", headers: { "Content-Type": "application/json" }, body })).json(),
    );
  };

  test("its card says where", async () => {
    const card = z.looseObject({ url: z.string() }).parse(await (await fetch(`${url}/.well-known/agent.json`)).json());
    expect(card).toMatchObject({ name: "parrot", protocolVersion: "0.3.0", preferredTransport: "JSONRPC" });
    expect(new URL(card.url).pathname).toBe("/a2a");
  });

  test("a prompt becomes a task that has ended, with the reply in its final status", async () => {
    const message = { kind: "message", role: "user", messageId: "m", parts: [{ kind: "text", text: "hello" }] };
    const sent = await call("message/send", { message, configuration: { blocking: false } });
    expect(sent).toMatchObject({ jsonrpc: "2.0", id: 7, result: { kind: "task", status: { state: "completed" } } });
    expect(sent.result?.status.message.parts).toEqual([{ kind: "text", text: "Heard: hello" }]);
    expect(await call("tasks/get", { id: sent.result?.id })).toEqual({ jsonrpc: "2.0", id: 7, result: sent.result });
  });

  test("what it can't do is an error of JSON-RPC", async () => {
    expect(await call("tasks/resubscribe", {})).toMatchObject({ id: 7, error: { code: -32601 } });
    expect(await call("tasks/get", { id: "none" })).toMatchObject({ id: 7, error: { code: -32001 } });
  });
});
