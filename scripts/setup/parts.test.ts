import { describe, expect, test } from "vitest";
import type { Machine } from "./machine.ts";
import type { Found, Part } from "./part.ts";
import { TIERS } from "./part.ts";
import { BENCH_PARTS, LONG_PARTS, lookAt, mendParts, PARTS, packagesOf, partsFor } from "./parts.ts";

const MACHINE: Machine = { platform: "linux", arch: "x64", debian: false, root: false, dockerHost: null, cacheFolder: "/cache" };
const READY: Found = { state: "ready", detail: "there" };
const MENDABLE: Found = { state: "mendable", detail: "not there", packages: [] };

/** A part that is found as in `states`, one look after the other. */
function part(states: Found[], mend: () => Promise<void> = async () => undefined): Part {
  return { name: "part", tiers: ["docker"], after: [], look: async () => states.shift() ?? READY, mend };
}

describe("setting up", () => {
  test("leaves what is there alone", async () => {
    const ready = part([READY], () => Promise.reject(new Error("must not be called")));
    const found = await mendParts(await lookAt([ready], MACHINE), MACHINE, () => undefined);
    expect([...found.values()]).toEqual([READY]);
  });

  test("mends what can be, and looks again", async () => {
    const found = await mendParts(await lookAt([part([MENDABLE, READY])], MACHINE), MACHINE, () => undefined);
    expect([...found.values()]).toEqual([READY]);
  });

  test("goes on after a part that couldn't be mended, with its reason", async () => {
    const broken = part([MENDABLE], () => Promise.reject(new Error("no disk left")));
    const found = await mendParts(await lookAt([broken, part([MENDABLE, READY])], MACHINE), MACHINE, () => undefined);
    expect([...found.values()]).toEqual([{ state: "missing", why: "no disk left", next: "mend that, then npm run setup again" }, READY]);
  });

  test("doesn't trust a part that says nothing was wrong", async () => {
    const found = await mendParts(await lookAt([part([MENDABLE, MENDABLE])], MACHINE), MACHINE, () => undefined);
    expect([...found.values()]).toEqual([{ state: "missing", why: "still not there", next: "npm run setup again" }]);
  });

  test("mends a part after those it waits for", async () => {
    const order: string[] = [];
    const first = part([MENDABLE, READY], async () => {
      await new Promise(setImmediate);
      order.push("first");
    });
    const second = { ...part([MENDABLE, READY], async () => void order.push("second")), after: [first] };
    await mendParts(await lookAt([first, second], MACHINE), MACHINE, () => undefined);
    expect(order).toEqual(["first", "second"]);
  });

  test("installs each package once, for the parts that need it", () => {
    const needs = (packages: string[]): [Part, Found] => [part([]), { ...MENDABLE, packages }];
    expect(packagesOf(new Map([needs(["docker.io", "iptables"]), needs(["iptables", "chromium"]), [part([]), READY]]))).toEqual([
      "docker.io",
      "iptables",
      "chromium",
    ]);
  });

  test("looks only at what the asked tiers need", () => {
    expect(partsFor(["browser"]).map(({ name }) => name)).toEqual(["chromium"]);
    expect(partsFor(["unit"])).toEqual([]);
  });

  test("needs nothing of the benches' or of the long forms' for any tier", () => {
    expect(BENCH_PARTS.map(({ name }) => name)).toEqual(["wrk", "nginx", "gateways"]);
    expect(LONG_PARTS.map(({ name }) => name)).toEqual(["dev-servers"]);
    expect(partsFor(TIERS)).toEqual(PARTS);
  });
});
