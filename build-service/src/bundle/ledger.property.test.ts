import fc from "fast-check";
import { expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { holds, PROPERTY } from "../../../test/fixtures/property.ts";
import { canonicalJson } from "./canonical.ts";
import { inputsDigest, type LedgerInputs, newestDone, SCHEME, writeDone } from "./ledger.ts";
import { changeReasons } from "./reasons.ts";

/** Few values, so that two inputs often share some; names that JavaScript's objects treat apart among them. */
const name = fc.constantFrom("a", "b", "é", "\u{1f600}", "\uff5e", "9", "10", "__proto__", "constructor", "toString", "a/b");
const version = fc.constantFrom("1", "2");
const versions = fc.dictionary(fc.constantFrom("env a", "env b", "artifact constructor"), version);
const digest = fc.constantFrom("sha256:1", "sha256:1+x", "sha256:2");
const files = fc.array(fc.tuple(name, digest), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs));

const inputs: fc.Arbitrary<LedgerInputs> = fc
  .record({ type: fc.constantFrom("website", "multi"), config: digest, files, needs: versions, store_refs: versions })
  .map(({ needs, store_refs, ...rest }) => ({
    ...rest,
    needs,
    // What is written here is not read from the store.
    store_refs: Object.fromEntries(Object.entries(store_refs).filter(([key]) => !Object.hasOwn(needs, key))),
  }));

/** Two that often share parts. */
const pair = fc
  .tuple(inputs, inputs, fc.subarray(["type", "config", "files", "versions"] as const))
  .map(([one, other, parts]): [LedgerInputs, LedgerInputs] => {
    const { type, config, files: held, needs, store_refs } = other;
    const changed = { type: { type }, config: { config }, files: { files: held }, versions: { needs, store_refs } };
    return [one, Object.assign({ ...one }, ...parts.map((part) => changed[part]))];
  });

const digestOf = (made: LedgerInputs): string => inputsDigest({ store: "env", id: "x", inputs: made });

/** Of two inputs that differ only in whether a version was written here or read from the store, both make one record. */
const record = ({ type, config, files: held, needs, store_refs }: LedgerInputs): string =>
  canonicalJson({ type, config, files: held, versions: { ...needs, ...store_refs } });

test("B8.1, N7 there is a reason exactly when two versions are made from different things", PROPERTY, async () => {
  await holds(
    fc.property(pair, ([before, now]) => {
      expect(changeReasons(before, now).length > 0).toBe(record(before) !== record(now));
    }),
    2_000,
  );
});

test("B8.1 a digest depends on what it is of, and not on the order in which that was found", PROPERTY, async () => {
  const reversed = <Value>(table: Readonly<Record<string, Value>>) => Object.fromEntries(Object.entries(table).reverse());
  await holds(
    fc.property(pair, ([one, other]) => {
      const shuffled = { ...one, files: reversed(one.files), needs: reversed(one.needs), store_refs: reversed(one.store_refs) };
      expect(digestOf(shuffled)).toBe(digestOf(one));
      expect(digestOf(one) === digestOf(other)).toBe(canonicalJson(one) === canonicalJson(other));
    }),
    2_000,
  );
});

test("B8.1 a row that is read is the row that was written", PROPERTY, async () => {
  await holds(
    fc.asyncProperty(inputs, async (made) => {
      const store = memoryStore();
      const at = "2026-01-31T12:00:00.000Z";
      const row = {
        store: "env",
        id: "x",
        bundle: "b",
        status: "done",
        scheme: SCHEME,
        version: 1,
        attempt: "0",
        at,
        inputs: made,
      } as const;
      await writeDone(store, "env", row);
      const read = await newestDone(store, "env", "x", 0);
      expect(read?.inputs && digestOf(read.inputs)).toBe(digestOf(made));
    }),
    300,
  );
});

test("canonical JSON reads back as the value that it was made from", PROPERTY, async () => {
  await holds(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.stringify(JSON.parse(canonicalJson(value)))).toHaveLength(JSON.stringify(value).length);
      expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
    }),
    500,
  );
});
