import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, posix, relative, sep } from "node:path";
import { build } from "esbuild";

/**
 * Packages that the CLI brings bundled instead of installed, with the files that they read beside their code. They are the
 * ones whose installation is many times the size of what is used: grammars as sources, prebuilt addons of other platforms.
 */
const VENDORED: Readonly<Record<string, readonly string[]>> = {
  dockerode: ["dockerode/lib/proto"],
  "tar-stream": [],
  "web-tree-sitter": ["web-tree-sitter/web-tree-sitter.wasm"],
  "tree-sitter-python": ["tree-sitter-python/tree-sitter-python.wasm"],
};

/** Dependencies that the packed CLI doesn't have: what is bundled, and the bundler, whose work is done when it is packed. */
export const NOT_INSTALLED: readonly string[] = [...Object.keys(VENDORED), "esbuild"];

const REQUIRE = 'import { createRequire as vendorRequire } from "node:module"; const require = vendorRequire(import.meta.url);';

/** Writes the vendored packages to `<target>/vendor`, with their licences. */
export async function writeVendored(checkout: string, target: string): Promise<void> {
  const modules = join(checkout, "node_modules");
  const folder = join(target, "vendor");
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: Object.keys(VENDORED).filter((name) => name !== "tree-sitter-python"),
    absWorkingDir: checkout,
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    metafile: true,
    legalComments: "none",
    logLevel: "error",
    // Optional addons, asked for in a `try`.
    external: ["cpu-features", "*.node"],
    define: { __dirname: "import.meta.dirname" },
    banner: { js: REQUIRE },
  });
  for (const path of Object.values(VENDORED).flat()) copyInto(join(modules, path), folder);
  const packages = new Set(
    [...Object.keys(metafile.inputs), ...Object.keys(VENDORED).map((name) => `node_modules/${name}/`)].flatMap(packageFolder),
  );
  writeFileSync(
    join(folder, "LICENSES.txt"),
    [...packages]
      .sort()
      .map((path) => licenceOf(checkout, path))
      .join("\n"),
  );
}

/** A module of the CLI that takes vendored packages, and files of them, from `vendor/`. `path` is relative to the package. */
export function withVendoredImports(code: string, path: string): string {
  const vendor = (file: string) => posix.join(posix.relative(posix.dirname(path), "."), "vendor", file);
  return Object.entries(VENDORED).reduce((text, [name, files]) => {
    const imported = text.replaceAll(
      new RegExp(`(\\bfrom\\s*|\\bimport\\s*\\(?\\s*)"${name}"`, "g"),
      (_, before: string) => `${before}"${vendor(`${name}.js`)}"`,
    );
    return files.reduce(
      (rest, file) => rest.replaceAll(`import.meta.resolve("${file}")`, `new URL("${vendor(basename(file))}", import.meta.url).href`),
      imported,
    );
  }, code);
}

function copyInto(path: string, folder: string): void {
  cpSync(path, join(folder, basename(path)), { recursive: true });
}

/** `node_modules/@scope/name` of a file in a package, at whatever depth that is installed. */
function packageFolder(file: string): string[] {
  const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.split(sep).join("/"));
  return found?.[1] === undefined ? [] : [found[1]];
}

function licenceOf(checkout: string, path: string): string {
  const folder = join(checkout, path);
  const name = existsSync(folder) ? readdirSync(folder).find((file) => /^licen[cs]e/i.test(file)) : undefined;
  const manifest: { license?: unknown } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const text = name === undefined ? `License: ${String(manifest.license)}` : readFileSync(join(folder, name), "utf8").trim();
  return `── ${relative("node_modules", path)}\n\n${text}\n`;
}
