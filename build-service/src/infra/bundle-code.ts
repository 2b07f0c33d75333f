import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** Packages written for CommonJS ask for Node's own modules by `require`. The name is one that no package has. */
const REQUIRE = 'import { createRequire as agentEnvRequire } from "node:module"; const require = agentEnvRequire(import.meta.url);';

/** Every entry that is bundled: a packed CLI brings each as `bundledFile` names it, and needs no bundler. */
export const BUNDLED_ENTRIES: readonly string[] = [
  "@agent-env/gateway/node",
  "@agent-env/sdk/bundle",
  "@agent-env/sdk/front-end",
  "@agent-env/sdk/testing",
];

/** Where a packed CLI has what was bundled when it was packed, from its root. */
export function bundledFile(specifier: string): string {
  return `bundled/${specifier.replace("@agent-env/", "").replace("/", "-")}.mjs`;
}

/**
 * One package entry and all that it imports, as one ECMAScript module for Node. The bytes depend on the sources, not on where
 * the installation lies: what is made from them is compared by digest. Lines and names stay: Node shows the line that threw.
 */
export async function bundledEntry(specifier: string): Promise<string> {
  return (await packedEntry(specifier)) ?? (await bundleEntry(specifier));
}

async function packedEntry(specifier: string): Promise<string | null> {
  try {
    return await readFile(new URL(`../../${bundledFile(specifier)}`, import.meta.url), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

async function bundleEntry(specifier: string): Promise<string> {
  const path = fileURLToPath(import.meta.resolve(specifier));
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [path],
    // Each source is named in a comment, relative to this.
    absWorkingDir: dirname(path),
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node22",
    legalComments: "none",
    logLevel: "silent",
    banner: { js: REQUIRE },
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${specifier}: bundled into nothing`);
  return output.text;
}
