import { describe, expect, test } from "vitest";
import { NodeSql } from "../../hosts/node/sql.ts";
import { prepareTables } from "../deployment/schema.ts";
import { type Task, TaskBook } from "./task-book.ts";

const IDLE_MS = 1_000;

function newBook(most?: { ofCaller: number; ofAll: number }): { book: TaskBook; clock: { ms: number } } {
  const sql = new NodeSql(":memory:");
  prepareTables(sql);
  const clock = { ms: 1_000_000 };
  return { book: new TaskBook({ sql, now: () => clock.ms, idleMs: IDLE_MS, ...(most === undefined ? {} : { most }) }), clock };
}
const taskOf = (id: string, more: Partial<Task> = {}): Omit<Task, "shown"> => ({
  caller: "alice",
  server: "items",
  id,
  lane: "alice",
  capabilities: { elicitation: {} },
  ttlMs: null,
  ...more,
});

describe("which server issued a task", () => {
  test("G8 a task is found whole, by the caller whose it is and by no other", () => {
    const { book } = newBook();
    book.issued(taskOf("1", { ttlMs: 500 }));
    expect(book.find("alice", "1")).toEqual({ ...taskOf("1", { ttlMs: 500 }), shown: "1" });
    expect([book.find("bob", "1"), book.find("alice", "2")]).toEqual([null, null]);
  });

  test("G8 a task is forgotten when its time is over, and one without a time when nobody has asked for it so long", () => {
    const { book, clock } = newBook();
    const [short, long] = [book.issued(taskOf("short", { ttlMs: 500 })), book.issued(taskOf("long"))];
    const known = () => [short, long].filter(({ shown }) => book.find("alice", shown) !== null).map(({ id }) => id);
    clock.ms += 500;
    expect(known()).toEqual(["short", "long"]);
    clock.ms += 1;
    expect(known()).toEqual(["long"]);
    clock.ms += 499;
    book.renew(long, null);
    clock.ms += IDLE_MS;
    expect(known()).toEqual(["long"]);
    clock.ms += 1;
    expect(known()).toEqual([]);
  });

  test("G8 a server that still knows a task has it remembered for as long again, by the time that it says", () => {
    const { book, clock } = newBook();
    const task = book.issued(taskOf("1", { ttlMs: 500 }));
    clock.ms += 400;
    book.renew(task, 2_000);
    clock.ms += 2_000;
    expect(book.find("alice", "1")?.ttlMs).toBe(2_000);
    clock.ms += 1;
    expect(book.find("alice", "1")).toBe(null);
  });

  test("G3 of one id from two servers the first keeps it while it is known, for one caller", () => {
    const { book, clock } = newBook();
    const shown = (task: Partial<Task>) => book.issued(taskOf("1", { ttlMs: 500, ...task })).shown;
    expect([shown({}), shown({ server: "stock" }), shown({}), shown({ caller: "bob", server: "stock" })]).toEqual([
      "1",
      "stock__1",
      "1",
      "1",
    ]);
    expect([book.find("alice", "1")?.server, book.find("alice", "stock__1")?.id]).toEqual(["items", "1"]);
    clock.ms += 501;
    expect(shown({ server: "stock" })).toBe("1");
  });

  test("G9 of one caller, and of all, only so many are remembered: the oldest are forgotten", () => {
    const { book } = newBook({ ofCaller: 2, ofAll: 3 });
    const known = (caller: string) => book.of(caller, "items").map(({ id }) => id);
    for (const id of ["1", "2", "3"]) book.issued(taskOf(id));
    expect(known("alice")).toEqual(["2", "3"]);
    for (const id of ["4", "5"]) book.issued(taskOf(id, { caller: "bob" }));
    expect([known("alice"), known("bob")]).toEqual([["3"], ["4", "5"]]);
  });

  test("a session is needed while it has tasks at that server, and a caller that has left needs none", () => {
    const { book, clock } = newBook();
    const needed = () => [book.isNeeded("items", "alice"), book.isNeeded("stock", "alice"), book.isNeeded("items", "bob")];
    expect(needed()).toEqual([false, false, false]);
    book.issued(taskOf("1"));
    expect(needed()).toEqual([true, false, false]);
    book.forget("alice");
    expect(needed()).toEqual([false, false, false]);
    book.issued(taskOf("2", { ttlMs: 500 }));
    clock.ms += 501;
    expect(needed()).toEqual([false, false, false]);
  });
});
