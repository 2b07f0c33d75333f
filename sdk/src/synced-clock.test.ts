import { expect, test, vi } from "vitest";
import { clockAt, saying, UNARMED } from "../../test/fixtures/sdk/clock.ts";
import { until } from "../../test/fixtures/until.ts";
import { SyncedClock } from "./synced-clock.ts";

const YEAR_2030 = Date.parse("2030-01-01T00:00:00Z");
const HOUR_MS = 3_600_000;

test("between readings it goes on as fast as it went", async () => {
  const clock = await SyncedClock.at(await clockAt(saying("2030-01-01T00:00:00Z"), saying("2030-01-01T01:00:00Z")));
  const [before, at] = [clock?.now()?.getTime() ?? 0, performance.now()];
  expect(before).toBeGreaterThanOrEqual(YEAR_2030 + HOUR_MS);
  while (performance.now() - at < 20);
  // At the machine's own pace it would be 20 ms.
  expect((clock?.now()?.getTime() ?? 0) - before).toBeGreaterThan(1_000);
});

test("a frozen clock stands still", async () => {
  const clock = await SyncedClock.at(await clockAt(saying("2030-01-01T00:00:00Z")));
  const at = performance.now();
  while (performance.now() - at < 20);
  expect(clock?.now()?.getTime()).toBe(YEAR_2030);
});

test("it is read again when it is asked, goes on when it can't be read, and ends when it is armed no more", async () => {
  const said = vi.spyOn(console, "error").mockReturnValue();
  const frozen = saying("2030-01-01T00:00:00Z");
  const answers = [frozen, frozen, { status: 500, body: "" }, saying("2040-01-01T00:00:00Z"), UNARMED] as const;
  const clock = await SyncedClock.at(await clockAt(...answers), 0);
  const years = new Set<number | undefined>();
  await until("the clock is armed no more", 10_000, () => {
    years.add(clock?.now()?.getUTCFullYear());
    return years.has(undefined);
  });
  expect([...years].filter((year) => year === 2030 || year === undefined)).toEqual([2030, undefined]);
  expect(said.mock.calls.map(([text]) => text)).toEqual(["the clock that this environment follows can't be read, and goes on as before:"]);
});

test("where it isn't armed there is none", async () => {
  expect(await SyncedClock.at(await clockAt(UNARMED))).toBeNull();
});
