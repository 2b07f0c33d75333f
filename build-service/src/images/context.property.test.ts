import { chmodSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { changes, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { holds, PROPERTY } from "../../../test/fixtures/property.ts";
import { folderFiles } from "../bundle/folder-files.ts";
import { sha256Hex } from "../bundle/ids.ts";
import { imageSource } from "./context.ts";

type File = { readonly path: string; readonly content: string; readonly executable: boolean };

const part = fc.constantFrom("a", "B", "é", "日本", "with space", ".hidden", "x.ts", "__proto__");
const file = fc.record({
  path: fc.tuple(fc.constantFrom("top", "bin", "\u{1f600}"), part, part).map((parts) => parts.join("/")),
  content: fc.string({ unit: "binary", maxLength: 20 }),
  executable: fc.boolean(),
});
const files = fc.uniqueArray(file, { selector: ({ path }) => path, minLength: 1, maxLength: 6 });

/** What no image can see: order of making, umask, times. */
const unseen = fc.record({
  order: fc.constantFrom<"kept" | "reversed">("kept", "reversed"),
  umask: fc.constantFrom(0o000, 0o022, 0o077, 0o027),
  seconds: fc.integer({ min: 0, max: 2_000_000_000 }),
});

function write(folder: string, made: readonly File[], { order, umask, seconds }: { order: string; umask: number; seconds: number }): void {
  for (const { path, content, executable } of order === "kept" ? made : made.toReversed()) {
    const disk = join(folder, path);
    mkdirSync(dirname(disk), { recursive: true });
    writeFileSync(disk, content);
    chmodSync(disk, (executable ? 0o777 : 0o666) & ~umask);
    utimesSync(disk, seconds, seconds);
  }
}

function sourceOf(folder: string) {
  const { files: found } = folderFiles({ bundleDisk: folder, disk: folder, shown: "envs/x" });
  return imageSource({ files: found, dockerfile: "Dockerfile", platform: null, shown: "envs/x" });
}

const DOCKERFILE: File = { path: "Dockerfile", content: "FROM scratch\nCOPY . /\n", executable: false };

test("N7 a source digest and its tar are the same for every checkout of the same files", PROPERTY, async () => {
  await holds(
    fc.asyncProperty(files, unseen, unseen, async (made, one, other) => {
      using a = temporaryFolder();
      using b = temporaryFolder();
      write(a.path, [DOCKERFILE, ...made], one);
      write(b.path, [DOCKERFILE, ...made], other);
      expect(sourceOf(b.path).digest).toBe(sourceOf(a.path).digest);
      expect(sha256Hex(await sourceOf(b.path).tar())).toBe(sha256Hex(await sourceOf(a.path).tar()));
    }),
    60,
  );
});

/** One change that an image can see, in a folder that holds `made`. */
const seen = fc.oneof(
  fc.constant((first: File): readonly File[] => [{ ...first, executable: !first.executable }]),
  fc.constant((first: File): readonly File[] => [{ ...first, content: `${first.content}.` }]),
  fc.constant((first: File): readonly File[] => [first, { path: "another", content: "", executable: false }]),
  fc.constant((): readonly File[] => []),
  fc.constant((first: File): readonly File[] => [{ ...first, path: `${first.path}2` }]),
);

test("N7 and another one after every change that an image can see", PROPERTY, async () => {
  await holds(
    fc.property(files, unseen, seen, (made, how, change) => {
      using folder = temporaryFolder();
      write(folder.path, [DOCKERFILE, ...made], how);
      const before = sourceOf(folder.path).digest;
      const [first, ...others] = made;
      if (first === undefined) throw new Error("a folder has a file");
      rmSync(join(folder.path, first.path));
      write(folder.path, [...change(first), ...others], how);
      expect(sourceOf(folder.path).digest).not.toBe(before);
    }),
    100,
  );
});

test("B8.1 the ledger takes a bundle for changed exactly when an image can see the change", PROPERTY, async () => {
  await holds(
    fc.asyncProperty(files, unseen, unseen, async (made, one, other) => {
      using folder = temporaryFolder();
      const store = memoryStore();
      const bundle = (context: readonly File[]): File[] => [
        { path: "envs/x/env.toml", content: 'environment_name = "x"\n', executable: false },
        { path: "tasks/t.json", content: '[{"id":"d","type":"deploy_env","env_id":"x"}]', executable: false },
        ...[DOCKERFILE, ...context].map((item) => ({ ...item, path: `envs/x/${item.path}` })),
      ];
      write(folder.path, bundle(made), one);
      await make({ folder: folder.path, store });
      rmSync(join(folder.path, "envs"), { recursive: true });
      write(folder.path, bundle(made), other);
      expect(changes(await plan({ folder: folder.path, store }))).toEqual([]);

      const toggled = made.map((item, index) => (index === 0 ? { ...item, executable: !item.executable } : item));
      write(folder.path, bundle(toggled), other);
      expect(changes(await plan({ folder: folder.path, store }))).toEqual([
        `envs/x (Dockerfile image): v2 (files changed: ${made[0]?.path} (mode))`,
        expect.stringMatching(/^envs\/x: v2 \(artifact @local\/.*\/x__env_image is written anew \(v1 → v2\)\)$/),
      ]);
    }),
    40,
  );
});
