import { describe, expect, test } from "vitest";
import type { Found, Part } from "../setup/part.ts";
import { type Outcome, reasonToSkip, skippedTier, strict, totalsLine, totalsOf } from "./totals.ts";

const outcome = (values: Partial<Outcome>): Outcome => ({
  name: "docker",
  passed: 0,
  failed: 0,
  skipped: [],
  seconds: 1,
  note: null,
  ...values,
});

describe("the closing line", () => {
  test("sums what passed and failed", () => {
    expect(totalsLine(totalsOf([outcome({ passed: 3 }), outcome({ passed: 4, failed: 1 })]))).toBe("7 passed, 1 failed");
  });

  test("names skipped tests only where there are any", () => {
    expect(totalsLine(totalsOf([outcome({ passed: 3, skipped: ["a", "b"] })]))).toBe("3 passed, 0 failed, 2 skipped");
  });
});

describe("in continuous integration a skipped test", () => {
  test("counts as failed, by name", () => {
    expect(strict(outcome({ passed: 2, skipped: ["pages open in a browser (no Chromium)"] }))).toEqual(
      outcome({ passed: 2, failed: 1, note: "skipped, which counts as failed here: pages open in a browser (no Chromium)" }),
    );
  });

  test("stays skipped when its service needs an account", () => {
    const modal = outcome({ passed: 2, skipped: ["the real service runs an image (needs an account: Modal)"] });
    expect(strict(modal)).toEqual(modal);
  });

  test("may be a whole tier, which keeps its reason", () => {
    expect(strict(skippedTier("docker", "engine: connect ENOENT")).note).toBe(
      "not run: engine: connect ENOENT\nskipped, which counts as failed here: the whole tier docker",
    );
  });
});

describe("a tier is skipped for the first part it needs that isn't ready", () => {
  const part = (name: string, tiers: Part["tiers"]): Part => ({
    name,
    tiers,
    after: [],
    look: async () => ready,
    mend: async () => undefined,
  });
  const ready: Found = { state: "ready", detail: "there" };
  const found = new Map<Part, Found>([
    [part("engine", ["docker"]), { state: "missing", why: "connect ENOENT /var/run/docker.sock", next: "start Docker" }],
    [part("chromium", ["browser"]), ready],
  ]);

  test("with its reason", () => expect(reasonToSkip("docker", found)).toBe("engine: connect ENOENT /var/run/docker.sock"));
  test("and runs when all it needs is there", () => expect(reasonToSkip("browser", found)).toBeNull());
  test("or when it needs nothing", () => expect(reasonToSkip("integration", found)).toBeNull());
});
