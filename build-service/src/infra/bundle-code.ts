import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * One package entry and all that it imports, as one ECMAScript module for Node. The bytes depend on the sources only, not on
 * where they lie: what is made from them is compared by digest. Names stay, so that a stack trace can be read.
 */
export async function bundledEntry(specifier: string): Promise<string> {
  const path = fileURLToPath(import.meta.resolve(specifier));
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [path],
    absWorkingDir: dirname(path),
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node22",
    // White space holds the paths of the sources, as comments.
    minifyWhitespace: true,
    keepNames: true,
    legalComments: "none",
    logLevel: "silent",
    // Packages written for CommonJS ask for Node's own modules by `require`.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${specifier}: bundled into nothing`);
  return output.text;
}
