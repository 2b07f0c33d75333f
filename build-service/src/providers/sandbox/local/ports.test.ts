import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { PortPool } from "./ports.ts";

const RANGE = { first: 20_500, last: 20_503 };
const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

function taken(port: number): Promise<void> {
  const server = createServer();
  servers.push(server);
  return new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
}

describe("P1 a published port", () => {
  test("that is taken is passed over, and none is drawn twice", async () => {
    await taken(20_501);
    const pool = new PortPool(RANGE);
    const drawn = [await pool.draw(() => 0.25), await pool.draw(() => 0.25), await pool.draw(() => 0.25)];
    expect(drawn).toEqual([20_502, 20_503, 20_500]);
  });

  test("can be drawn again once it was given back", async () => {
    const pool = new PortPool({ first: 20_500, last: 20_500 });
    pool.giveBack(await pool.draw());
    expect(await pool.draw()).toBe(20_500);
  });

  test("that can't be had is a refusal with the next step", async () => {
    await taken(20_500);
    await expect(new PortPool({ first: 20_500, last: 20_500 }).draw()).rejects.toMatchObject({
      name: "UserError",
      message: "no free port on 127.0.0.1 between 20500 and 20500",
      why: "each deployment publishes at least one there, and all of them are taken",
    });
  });
});
