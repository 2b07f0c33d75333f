import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "@agent-env/protocol";
import { dockerfileFacts } from "../images/bases.ts";
import type { Locked } from "../images/locked.ts";
import type { Bundle } from "./bundle.ts";
import type { Warning } from "./checked.ts";
import { byCodePoint } from "./code-points.ts";
import { readTomlFile } from "./config-file.ts";
import type { ResolvedEntry } from "./resolved.ts";
import { listed, shownText, shownValue } from "./shown.ts";
import { isTable } from "./toml.ts";

/** The file at a bundle's top that fixes base images (4-bundle §10.5). */
export const LOCK_FILE = "agent-env.lock";

/** What a base image is fixed to. */
export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** What a bundle without a lock file locks. */
export const NOTHING_LOCKED: Locked = new Map();

/** Reads a bundle's lock file, at `disk`; null: it has none. */
export function readLockFile(disk: string | null): { readonly locked: Locked; readonly problems: readonly Problem[] } {
  const refuse = (messages: readonly string[]) => ({
    locked: NOTHING_LOCKED,
    problems: messages.map((message): Problem => ({ code: "bad-config", path: LOCK_FILE, message })),
  });
  if (disk === null) return { locked: NOTHING_LOCKED, problems: [] };
  const read = readTomlFile(disk);
  if ("problem" in read) return refuse([read.problem]);
  const { images = {}, ...others } = read.value;
  if (Object.keys(others).length > 0) return refuse([`holds ${listed(Object.keys(others))}, and only [images] counts: remove the rest`]);
  if (!isTable(images)) return refuse([`images is ${shownValue(images)}, and takes a table: [images]`]);
  const wrong = Object.entries(images).filter(([, digest]) => typeof digest !== "string" || !DIGEST.test(digest));
  if (wrong.length > 0) {
    return refuse(
      wrong.map(
        ([reference, digest]) =>
          `[images] ${shownValue(reference)} is ${shownValue(digest)}, and takes a digest, sha256:<64 hex digits>: agent-env run <bundle> --pull --lock writes it`,
      ),
    );
  }
  return { locked: new Map(Object.entries(images).map(([reference, digest]) => [reference, String(digest)])), problems: [] };
}

/** The text of a lock file: sorted, so that it is the same whoever writes it. */
export function lockFileText(locked: Locked): string {
  const lines = [...locked]
    .toSorted(([a], [b]) => byCodePoint(a, b))
    .map(([reference, digest]) => `${JSON.stringify(reference)} = ${JSON.stringify(digest)}`);
  return ["# Base images by digest. Written by agent-env run <bundle> --pull --lock.", "[images]", ...lines, ""].join("\n");
}

/** What a bundle locks and no Dockerfile of it is based on. */
export function unusedLocks({ locked }: Pick<Bundle, "locked">, entries: readonly ResolvedEntry[]): Warning[] {
  if (locked.size === 0) return [];
  const used = usedBases(entries);
  return [...locked.keys()]
    .filter((reference) => !used.has(reference))
    .map((reference) => ({
      path: LOCK_FILE,
      message: `[images] ${shownText(JSON.stringify(reference))}: no Dockerfile of this bundle is based on it`,
    }));
}

/** Every base image that the Dockerfiles of these entries name. */
function usedBases(entries: readonly ResolvedEntry[]): ReadonlySet<string> {
  return new Set(
    entries.flatMap((resolved) =>
      resolved.what !== "entity"
        ? []
        : resolved.builds.flatMap(({ dockerfile }) => dockerfileFacts(readFileSync(join(resolved.entry.disk, dockerfile), "utf8")).bases),
    ),
  );
}
