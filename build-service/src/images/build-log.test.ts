import { describe, expect, test } from "vitest";
import { BuildLog, engineLines } from "./build-log.ts";

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

test("the Engine's lines are whole wherever its chunks end", async () => {
  expect(await Array.fromAsync(engineLines(chunks('{"stream":"a\\n"}\r\n{"str', 'eam":"ö"}\n\n{"error":"e"}')))).toEqual([
    { stream: "a\n" },
    { stream: "ö" },
    { error: "e" },
  ]);
});

describe("a build's log", () => {
  test("knows the step it is at, gives whole lines without colours, and keeps everything", () => {
    const log = new BuildLog();
    expect(log.add({ stream: "Step 2/5 : RUN npm ci" })).toEqual([]);
    expect(log.add({ stream: "\n" })).toEqual(["Step 2/5 : RUN npm ci"]);
    expect(log.step).toEqual({ step: 2, steps: 5, instruction: "RUN npm ci" });
    expect(log.add({ stream: " ---> Running in abc123\n" })).toEqual([" ---> Running in abc123"]);
    expect(log.runningIn).toBe("abc123");
    expect(log.add({ stream: "10%\r99%\r100%\n\u001b[91mwarning\u001b[0m\n" })).toEqual(["100%", "warning"]);
    expect(log.text).toBe("Step 2/5 : RUN npm ci\n ---> Running in abc123\n10%\r99%\r100%\nwarning\n");
    expect(log.tail(2)).toBe("10%\r99%\r100%\nwarning");
  });

  test("keeps the first error", () => {
    const log = new BuildLog();
    log.add({ error: "first", errorDetail: { message: "first, in full" } });
    log.add({ error: "second" });
    expect(log.error).toBe("first, in full");
  });

  test("has the image that was made last", () => {
    const log = new BuildLog();
    log.add({ aux: { ID: "sha256:1" } });
    log.add({ aux: { ID: "sha256:2" } });
    expect(log.imageId).toBe("sha256:2");
  });
});
