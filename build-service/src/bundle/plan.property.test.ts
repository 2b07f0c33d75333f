import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { holds, PROPERTY } from "../../../test/fixtures/property.ts";
import { planBundle } from "./plan.ts";

/** What one bundle may take to be judged, on a machine that does much else. */
const BUDGET_MS = 15_000;

const odd = fc.constantFrom(
  "é",
  "e\u0301",
  "\u202e",
  "x y",
  " x",
  "x ",
  "\u{1f600}",
  "a\u200bb",
  "__proto__",
  "a__b",
  "ſ",
  "CON",
  "-",
  "...",
);
const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom("a", "b", "A") }, odd);
const kind = fc.constantFrom("envs", "agents", "artifacts", "skills", "tasks", "evals");
const known = fc.constantFrom(
  "Dockerfile",
  "env.toml",
  "agent.toml",
  "artifact.toml",
  "SKILL.md",
  ".dockerignore",
  "server.py",
  "server.ts",
);

const path = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(kind, name, known).map((parts) => parts.join("/")) },
  { weight: 2, arbitrary: fc.tuple(kind, name, name, name).map((parts) => parts.join("/")) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("tasks/", "evals/"), name, fc.constantFrom(".json", ".toml", ".JSON", ""))
      .map((parts) => parts.join("")),
  },
  { weight: 1, arbitrary: fc.oneof(name, fc.constantFrom("README.md", "bundle.toml", "ENVS", "aliases.toml")) },
);

const key = fc.oneof(
  fc.constantFrom("type", "id", "image", "environment_name", "mcp_server_envs", "website_envs", "tasks", "file", "default_env_vars"),
  fc.constantFrom("env_provider_type", "metadata", "name", "description", "environment_artifacts", "dockerfile", "version", "env"),
);
const scalar = fc.oneof(
  fc.constantFrom(
    "mcp_server",
    "website",
    "multi",
    "file",
    "environment",
    "docker_image",
    "a",
    "b",
    "@local/x",
    "@other/y",
    "../Dockerfile",
  ),
  fc.constantFrom("x".repeat(1_000_000), "\\", "\u0000", "$A", "*a*a*b"),
  fc.string({ unit: "grapheme" }),
  fc.double(),
  fc.boolean(),
);
const { tree: value } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie("tree"), { maxLength: 3 }), fc.dictionary(key, tie("tree"), { maxKeys: 3 })),
}));

/** A value as TOML writes it inline. */
function toml(written: unknown): string {
  if (Array.isArray(written)) return `[${written.map(toml).join(", ")}]`;
  if (typeof written === "object" && written !== null) return `{ ${tomlPairs(written).join(", ")} }`;
  return typeof written === "number" && !Number.isFinite(written) ? "nan" : JSON.stringify(written);
}
const tomlPairs = (table: object): string[] => Object.entries(table).map(([name, item]) => `${JSON.stringify(name)} = ${toml(item)}`);

const step = fc
  .tuple(
    fc.constantFrom("deploy_env", "load_artifact", "env_outcome_verifier", "agent_prompt", "unknown"),
    name,
    fc.dictionary(fc.oneof(fc.constantFrom("env_id", "artifact_id", "file_artifact_id", "depends_on", "env_version"), key), value, {
      maxKeys: 4,
    }),
  )
  .map(([type, id, fields]) => ({ ...fields, id, type }));

const content = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(key, value, { maxKeys: 4 }).map((table) => tomlPairs(table).join("\n")) },
  { weight: 4, arbitrary: fc.array(step, { maxLength: 4 }).map((steps) => JSON.stringify(steps)) },
  { weight: 2, arbitrary: fc.json() },
  { weight: 2, arbitrary: fc.string({ unit: "binary" }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "FROM base\nCOPY . .\n",
      "FROM $A\n",
      "environmentCard({ name: 'a' })",
      "---\nname: a\ndescription: b\n---\n",
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("[", '{"a":', "(", "a.", "{a=", "- "), fc.constantFrom(499, 501, 20_000))
      .map(([open, depth]) => `x = ${open.repeat(depth)}`),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
);

/** Links lead into the bundle, out of it, up, in circles, nowhere. */
const link = fc.constantFrom(".", "..", "../..", "/etc", "a", "../a", "../b/Dockerfile", "gone", "/dev/zero").map((to) => ({ to }));
const item = fc.oneof(
  { weight: 8, arbitrary: content },
  { weight: 2, arbitrary: link },
  { weight: 1, arbitrary: fc.constant("fifo" as const) },
);
const bundle = fc.dictionary(path, item, { minKeys: 1, maxKeys: 10 });

/** Makes an item where nothing of another kind is in its way. */
function place(disk: string, made: string | Uint8Array | { readonly to: string }): void {
  try {
    mkdirSync(dirname(disk), { recursive: true });
    if (made === "fifo") execFileSync("mkfifo", [disk], { stdio: "ignore" });
    else if (typeof made === "object" && "to" in made) symlinkSync(made.to, disk);
    else writeFileSync(disk, made, { flag: "wx" });
  } catch (error) {
    if (error instanceof Error && (("code" in error && typeof error.code === "string") || "status" in error)) return;
    throw error;
  }
}

test("B5 any folder gives a plan or problems of one line each, never a crash or a hang", PROPERTY, async () => {
  await holds(
    fc.asyncProperty(bundle, async (items) => {
      using folder = temporaryFolder();
      for (const [itemPath, made] of Object.entries(items)) place(join(folder.path, itemPath), made);
      const start = performance.now();
      const { plan, problems } = await planBundle({ folder: folder.path, selection: { tasks: [], evals: [] }, store: memoryStore() });
      expect(plan === null).toBe(problems.length > 0);
      for (const { path: at, message } of problems) {
        expect(`${at}: ${message}`).not.toMatch(/\n|\u202e/);
        expect(message.length).toBeLessThan(5_000);
      }
      expect(performance.now() - start).toBeLessThan(BUDGET_MS);
    }),
    300,
  );
});
