import { expect, test } from "vitest";
import { NodeSql } from "../../hosts/node/sql.ts";
import { namedCaller } from "../auth/caller.ts";
import { prepareTables } from "./schema.ts";
import { Sessions } from "./sessions.ts";
import { Vault } from "./vault.ts";

function sessionsOver(sql = new NodeSql(":memory:"), now: () => number = Date.now): Sessions {
  prepareTables(sql);
  return new Sessions({ sql, vault: new Vault(sql), deployment: "d", idleMs: 1_000_000, most: 10_000, now });
}

const BY = { role: "default", owner: "role default", isNamed: true };
const byRole = (role: string) => ({ role, owner: `role ${role}`, isNamed: true });

test("F12 of 10,000 sessions whose clients vanished the longest idle makes place for a new one", async () => {
  const sql = new NodeSql(":memory:");
  let at = 0;
  const sessions = sessionsOver(sql, () => ++at);
  const ids: string[] = [];
  for (let n = 0; n < 10_020; n++) ids.push((await sessions.create(BY, "2025-11-25")).id);
  expect(sql.exec("SELECT count(*) AS n FROM sessions")).toEqual([{ n: 10_000 }]);
  const found = await Promise.all([ids[0], ids[19], ids[20], ids.at(-1)].map((id) => sessions.find(id ?? "", BY)));
  expect(found.map((session) => session !== null)).toEqual([false, false, true, true]);
});

test("an id holds what its client can do, within 512 characters whatever that is", async () => {
  const sql = new NodeSql(":memory:");
  const declared = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };
  const { id } = await sessionsOver(sql).create(byRole("r".repeat(100)), "2025-11-25", declared);
  expect((await sessionsOver(sql).find(id, { ...BY, isNamed: false }))?.capabilities).toEqual(declared);
  const long = await sessionsOver(sql).create(byRole("r".repeat(256)), "2025-11-25", declared);
  expect([long.id.length <= 512, long.session.capabilities]).toEqual([true, {}]);
});

test("a session's log level is kept with it, and goes with it", async () => {
  const sql = new NodeSql(":memory:");
  const sessions = sessionsOver(sql);
  const { session } = await sessions.create(BY, "2025-11-25");
  expect(sessions.level(session)).toBeNull();
  sessions.setLevel(session, "error");
  expect([sessions.level(session), sessionsOver(sql).level(session)]).toEqual(["error", "error"]);
  sessions.setLevel(session, "debug");
  expect(sessions.level(session)).toBe("debug");
  sessions.close(session);
  expect(sessions.level(session)).toBeNull();
});

test("F14 a session is its caller's alone, after a restart too, within 512 characters whoever that is", async () => {
  const sql = new NodeSql(":memory:");
  const caller = (sub: string) => namedCaller({ sub, role: "r".repeat(200), scope: [] });
  const { id, session } = await sessionsOver(sql).create(caller("alice"), "2025-11-25");
  expect([id.length <= 512, session.owner]).toEqual([true, caller("alice").owner]);
  const found = async (by: { owner: string; isNamed: boolean }) => (await sessionsOver(sql).find(id, by))?.key;
  expect([await found(caller("alice")), await found(caller("bob")), await found(byRole("r".repeat(200)))]).toEqual([
    session.key,
    undefined,
    undefined,
  ]);
});
