import { foldName, type Problem } from "@agent-env/protocol";
import type { Checked } from "./checked.ts";
import { listed, shownText } from "./shown.ts";
import { type WriteUnit, writeUnits } from "./units.ts";

/** What `--rebuild` asks for: all images, or those of the entries that it names. */
export type Rebuild = "all" | readonly string[];

/** The reason of a version that is written for `--rebuild` alone (4-bundle §9.3). */
export const REBUILD_ASKED = "rebuild asked for";

type ImageUnit = WriteUnit & { readonly what: "image" };

/** The keys of the images that are asked for. An entry is named by its path, its name or its id. */
export function rebuildKeys(
  checked: Checked,
  asked: Rebuild,
): { readonly keys: ReadonlySet<string>; readonly problems: readonly Problem[] } {
  const images = writeUnits(checked).filter((unit): unit is ImageUnit => unit.what === "image");
  if (asked === "all") return { keys: new Set(images.map(({ key }) => key)), problems: [] };
  const keys = new Set<string>();
  const problems: Problem[] = [];
  for (const text of asked) {
    const name = text.normalize("NFC").replace(/\/$/, "");
    const named = images.filter(({ entry }) => [entry.path, entry.name, entry.id].includes(name));
    for (const { key } of named) keys.add(key);
    if (named.length === 0) problems.push(notBuilt(text, name, images));
  }
  return { keys, problems };
}

function notBuilt(text: string, name: string, images: readonly ImageUnit[]): Problem {
  const paths = [...new Set(images.map(({ entry }) => entry.path))];
  const near = images.find(({ entry }) => [entry.path, entry.name].some((one) => foldName(one) === foldName(name)));
  const there = paths.length === 0 ? "none is" : `those are ${listed(paths)}`;
  const message =
    near === undefined
      ? `has no image that this selection builds: ${there}`
      : `is not in this bundle, but ${JSON.stringify(near.entry.path)} is: names are case-sensitive`;
  return { code: "no-selection", path: `--rebuild '${shownText(text)}'`, message };
}
