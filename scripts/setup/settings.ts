import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run, which } from "./command.ts";

/** How this machine reaches its package sources. Nothing in it is a secret: an address with credentials is left out. */
export type PackageSettings = {
  readonly mirror: string;
  readonly securityMirror: string;
  readonly aptProxy: string | null;
  readonly pipIndex: string | null;
  readonly npmRegistry: string | null;
};

const DEFAULT_MIRROR = "http://deb.debian.org/debian";
const DEFAULT_REGISTRY = "https://registry.npmjs.org/";

/** Reads this machine's package settings. */
export async function packageSettings(): Promise<PackageSettings> {
  const mirrors = aptSources();
  const main = mirrors.find((uri) => /\/debian\/?$/.test(uri)) ?? DEFAULT_MIRROR;
  const registry = await answerOf("npm", ["config", "get", "registry"]);
  return {
    mirror: withoutSlash(main),
    securityMirror: withoutSlash(mirrors.find((uri) => /security/.test(uri)) ?? `${withoutSlash(main)}-security`),
    aptProxy: withoutCredentials(aptValue(await answerOf("apt-config", ["dump", "Acquire::http::Proxy"]))),
    pipIndex: withoutCredentials(process.env["PIP_INDEX_URL"] ?? (await answerOf("pip", ["config", "get", "global.index-url"]))),
    npmRegistry: registry === DEFAULT_REGISTRY ? null : withoutCredentials(registry),
  };
}

/** The addresses in apt's sources, of both formats (sources.list(5)), in their order. */
export function sourceUris(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const old = /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)/.exec(line);
    const deb822 = /^URIs:\s*(.+)$/.exec(line);
    return old?.[1] ?? deb822?.[1]?.trim().split(/\s+/) ?? [];
  });
}

/** The address, or null where it is none or holds a user name or password. */
export function withoutCredentials(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  const url = new URL(address);
  return url.username === "" && url.password === "" ? address : null;
}

function aptSources(): string[] {
  const folder = "/etc/apt/sources.list.d";
  const files = existsSync(folder)
    ? readdirSync(folder)
        .sort()
        .map((name) => join(folder, name))
    : [];
  return ["/etc/apt/sources.list", ...files]
    .filter((file) => existsSync(file) && /\.(list|sources)$/.test(file))
    .flatMap((file) => sourceUris(readFileSync(file, "utf8")))
    .filter((uri) => withoutCredentials(uri) !== null);
}

/** The value in a line of `apt-config dump`: `Acquire::http::Proxy "http://…";`. */
function aptValue(line: string | null): string | null {
  return line === null ? null : (/"(.+)";/.exec(line)?.[1] ?? null);
}

async function answerOf(command: string, args: readonly string[]): Promise<string | null> {
  if (which(command) === null) return null;
  const result = await run(command, args, { budgetSeconds: 20 });
  return result.code === 0 && result.stdout.trim() !== "" ? result.stdout.trim() : null;
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}
