import { describe, expect, test } from "vitest";
import { NodeSql } from "../../hosts/node/sql.ts";
import { prepareTables } from "../deployment/schema.ts";
import { Fault, type Host } from "../seam.ts";
import { NOTHING } from "./capabilities.ts";
import { Lanes } from "./lanes.ts";

/** A server's sessions of before a restart, and what is sent to the server, which never answers. */
function lanesOf(callers: readonly string[], isNeeded: (lane: string) => boolean) {
  const sql = new NodeSql(":memory:");
  prepareTables(sql);
  for (const caller of callers)
    sql.exec("INSERT INTO upstream_sessions (caller, server, id, version) VALUES (?, 'items', ?, '2025-11-25')", caller, `s-${caller}`);
  const clock = { ms: 1_000_000 };
  const ended: string[] = [];
  const host: Pick<Host, "sql" | "upstream" | "background" | "log"> = {
    sql,
    background: () => undefined,
    log: () => undefined,
    upstream: ({ method, headers }) => {
      if (method === "DELETE") ended.push(String(headers.find(([name]) => name === "mcp-session-id")?.[1]));
      return { response: Promise.reject(new Fault("refused", "nobody listens")), abort: () => undefined };
    },
  };
  const whole: Host = {
    ...host,
    committed: () => undefined,
    soon: (work) => work(),
    upgrade: () => unused(),
    decode: () => unused(),
    record: () => unused(),
  };
  const wire = { host: whole, url: "http://items/mcp", maxBytes: 1_000, fields: () => [], nextId: () => 1 };
  const lanes = new Lanes({
    host: whole,
    server: "items",
    wire,
    now: () => clock.ms,
    heard: () => undefined,
    asked: () => undefined,
    isNeeded,
  });
  /** Somebody uses a session so much later: what is idle by then is swept. */
  const usedAfter = async (minutes: number) => {
    clock.ms += minutes * 60_000;
    lanes.take("somebody", NOTHING).give();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    return ended;
  };
  return { lanes, usedAfter };
}

function unused(): never {
  throw new Error("sessions need no more of a host");
}

describe("sessions with a server that nobody uses", () => {
  test("G8 one with tasks at the server is kept after ten minutes, also one of before a restart; others end", async () => {
    const { lanes, usedAfter } = lanesOf(["alice", "bob", "carol"], (lane) => lane !== "bob" && lane !== "somebody");
    lanes.take("alice", NOTHING).give();
    expect(await usedAfter(9)).toEqual([]);
    expect(await usedAfter(2)).toEqual(["s-bob"]);
    expect(await usedAfter(60)).toEqual(["s-bob"]);
  });

  test("one that is used is kept, and ended once it is idle and has no tasks any more", async () => {
    let hasTasks = true;
    const { lanes, usedAfter } = lanesOf(["alice"], () => hasTasks);
    const taken = lanes.take("alice", NOTHING);
    hasTasks = false;
    expect(await usedAfter(11)).toEqual([]);
    taken.give();
    expect(await usedAfter(9)).toEqual([]);
    expect(await usedAfter(2)).toEqual(["s-alice"]);
  });
});
