import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { UserError } from "@agent-env/protocol";
import type { Browser, BrowserType } from "playwright-core";
import { z } from "zod";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];
const MAC_APPS = ["Google Chrome", "Chromium", "Microsoft Edge"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
const LAUNCH_BUDGET_MS = 30_000;

/** It asks nobody but this machine and the hosts of the sites: whatever else a page names is not found. */
const flags = (hosts: readonly string[]): string[] => [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--no-first-run",
  `--host-resolver-rules=${["MAP * ~NOTFOUND", ...["localhost", "*.localhost", "127.0.0.1", ...hosts].map((host) => `EXCLUDE ${host}`)].join(", ")}`,
];

/** Where the system's Chromium is: what `AGENT_ENV_CHROMIUM` says, else the first that is found; null where there is none. */
export function chromiumPath(env: Readonly<Record<string, string | undefined>>): string | null {
  const named = env["AGENT_ENV_CHROMIUM"] ?? "";
  if (named !== "") return named;
  const onPath = (env["PATH"] ?? "").split(delimiter).flatMap((folder) => (folder === "" ? [] : NAMES.map((name) => join(folder, name))));
  return [...onPath, ...MAC_APPS].find((path) => existsSync(path)) ?? null;
}

/** Where the system's Chromium is. Throws a `UserError` (exit code 2) where there is none. */
export function requiredChromium(env: Readonly<Record<string, string | undefined>>): string {
  const path = chromiumPath(env);
  if (path !== null) return path;
  throw new UserError({
    what: "Chromium: not found",
    why: `a site is checked with the system's browser, and PATH has none of ${NAMES.join(", ")}`,
    next: "install Chromium (on Debian: apt-get install chromium), or name one in AGENT_ENV_CHROMIUM",
    exitCode: 2,
  });
}

/**
 * What drives the browser. It isn't installed with agent-env, of which it would be a tenth, and most never need it. Throws a
 * `UserError` (exit code 2) where it is missing.
 */
export async function requiredDriver(): Promise<BrowserType> {
  try {
    return (await import("playwright-core")).chromium;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new UserError(
      {
        what: "playwright-core: not installed",
        why: "it drives the browser that a site is checked with, and npm doesn't install it with agent-env",
        next: `npm install playwright-core@${driverVersion()}`,
        exitCode: 2,
      },
      { cause: error },
    );
  }
}

/** As this package names it to npm. */
function driverVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return z.object({ peerDependencies: z.object({ "playwright-core": z.string() }) }).parse(JSON.parse(manifest)).peerDependencies[
    "playwright-core"
  ];
}

/**
 * Starts the Chromium at `executablePath`. `hosts` are those that its pages may reach beside this machine. Throws a `UserError`
 * (exit code 2) where it doesn't start.
 */
export async function launchBrowser(executablePath: string, hosts: readonly string[]): Promise<Browser> {
  const driver = await requiredDriver();
  try {
    // Chromium's own sandbox can't be had by root.
    const chromiumSandbox = process.getuid?.() !== 0;
    return await driver.launch({
      executablePath,
      chromiumSandbox,
      args: flags(hosts),
      timeout: LAUNCH_BUDGET_MS,
      handleSIGINT: false,
      handleSIGTERM: false,
    });
  } catch (error) {
    throw new UserError(
      {
        what: `${executablePath}: the browser did not start`,
        why: firstLine(error),
        next: "start it yourself to see what it lacks, or name another one in AGENT_ENV_CHROMIUM",
        exitCode: 2,
      },
      { cause: error },
    );
  }
}

/** What a failed call of the browser's says first; what follows is its log. */
export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n")[0] ?? "";
}
