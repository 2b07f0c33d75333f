import { readFileSync, realpathSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import { idSegmentProblem, LOCAL_PREFIX, MAX_AUTHORED_ID_BYTES, type Problem, utf8Length } from "@agent-env/protocol";
import { z } from "zod";
import { shownText } from "./shown.ts";

/** A bundle that a package brings: its ids start with the package's name, wherever it is installed. */
export type InstalledBundle = { readonly package: string; readonly name: string };

/** What the ids of a bundle start with, or why its path can't be (4-bundle §2.1). `disk` is its canonical path. */
export function idRootOf(disk: string, installed?: InstalledBundle): { readonly idRoot: string; readonly problems: readonly Problem[] } {
  const bundle = installed ?? installedBundle(disk);
  if (bundle !== null) return { idRoot: `${LOCAL_PREFIX}${bundle.package}/${bundle.name}`, problems: [] };
  const home = homeFolder();
  const isAtHome = disk === home || disk.startsWith(`${home}${sep}`);
  const above = isAtHome ? home : "";
  const parts = disk
    .slice(above.length)
    .split(sep)
    .filter((part) => part !== "");
  const problems = [...partProblems(above, parts), ...(isAtHome ? [] : homeLookalike(parts))];
  const idRoot = [LOCAL_PREFIX.slice(0, -1), ...(isAtHome ? ["~"] : []), ...parts.map((part) => part.normalize("NFC"))].join("/");
  if (problems.length === 0 && utf8Length(idRoot) + 2 > MAX_AUTHORED_ID_BYTES) {
    problems.push({
      code: "id-root",
      path: shownText(disk),
      message: "is so long a path that an id under it has no room for a name: move the bundle up",
    });
  }
  return { idRoot, problems };
}

function partProblems(above: string, parts: readonly string[]): Problem[] {
  return parts.flatMap((part, index) => {
    const reason = idSegmentProblem(part.normalize("NFC"));
    const path = shownText(`${above}/${parts.slice(0, index + 1).join("/")}`);
    return reason === null
      ? []
      : [{ code: "id-root", path, message: `can't be part of an id: ${reason}; rename the folder, or move the bundle` }];
  });
}

function homeLookalike(parts: readonly string[]): Problem[] {
  if (parts[0] !== "~") return [];
  return [{ code: "id-root", path: "/~", message: "would read as the home folder in an id: move the bundle elsewhere" }];
}

/** `$HOME` when it is an absolute folder other than `/`, else the account's; canonical. */
function homeFolder(): string {
  const home = process.env["HOME"] ?? "";
  const isHome = isAbsolute(home) && resolve(home) !== "/" && statSync(home, { throwIfNoEntry: false })?.isDirectory();
  const account = userInfo().homedir;
  const chosen = isHome ? home : account;
  return statSync(chosen, { throwIfNoEntry: false }) ? realpathSync.native(chosen) : resolve(chosen);
}

/** A package.json that declares bundles. */
export const BundleManifest = z.object({ name: z.string(), agentEnv: z.object({ bundles: z.record(z.string(), z.string()) }) });

/** The bundle's name in the package that it lies in, if that package declares it. */
function installedBundle(disk: string): InstalledBundle | null {
  const found = /^(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)(?:[/\\]|$)/.exec(disk);
  const folder = found?.[1];
  if (folder === undefined || !statSync(join(folder, "package.json"), { throwIfNoEntry: false })) return null;
  const manifest = BundleManifest.safeParse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  if (!manifest.success) return null;
  const { name, agentEnv } = manifest.data;
  const declared = Object.entries(agentEnv.bundles).find(([, path]) => resolve(folder, path) === disk);
  return declared === undefined ? null : { package: name, name: declared[0] };
}
