import { join } from "node:path";
import { readConfigText } from "./config-file.ts";

/** A bundle's description: the first line of text of its README (4-bundle §1.1); null when that gives none. */
export function readmeDescription(disk: string, names: readonly string[]): string | null {
  const readmes = names.filter((name) => name.toLowerCase() === "readme.md");
  const chosen = readmes.includes("README.md") ? "README.md" : readmes.sort()[0];
  if (chosen === undefined) return null;
  const read = readConfigText(join(disk, chosen));
  return "problem" in read ? null : firstLine(read.text);
}

function firstLine(text: string): string | null {
  const body = text.replace(/^---\n[\s\S]*?\n---(?:\n|$)/, "");
  for (const line of body.split("\n").map((raw) => raw.trim())) {
    if (/^(?:<|!\[|\[!\[)/.test(line)) continue;
    const content = line.replace(/^#+\s*/, "");
    if (content !== "") return content;
  }
  return null;
}
