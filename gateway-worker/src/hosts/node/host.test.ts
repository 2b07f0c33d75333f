import { afterEach, expect, test, vi } from "vitest";
import { nodeHost } from "./host.ts";
import { recordFrom } from "./record.ts";
import { NodeSql } from "./sql.ts";

afterEach(() => void vi.restoreAllMocks());

test("background work that fails is logged as a bug, with its stack, and the process goes on", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const sql = new NodeSql(":memory:");
  const record = recordFrom({ GATEWAY_RECORD: JSON.stringify({ revision: 1, name: "demo", auth: { mode: "open" }, servers: [] }) });
  const bug = new Error("broken");
  nodeHost({ record, sql, ownUrl: () => "http://gateway:18765" }).background(Promise.reject(bug));
  await vi.waitFor(() => expect(written).toHaveBeenCalledWith(`bug: ${bug.stack}\n`));
  sql.close();
});
