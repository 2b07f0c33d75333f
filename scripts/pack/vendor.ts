import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, posix, relative, sep } from "node:path";
import { build } from "esbuild";

/**
 * What the CLI brings bundled instead of installed: packages whose installation is many times the size of what is used
 * (grammars as sources, addons of other platforms, a server's framework where only the client is used).
 */
const MODULES = [
  "dockerode",
  "tar-stream",
  "web-tree-sitter",
  "@modelcontextprotocol/sdk/client/index.js",
  "@modelcontextprotocol/sdk/client/streamableHttp.js",
  "@modelcontextprotocol/sdk/types.js",
];

/** What they read beside their code. */
const FILES = ["dockerode/lib/proto", "web-tree-sitter/web-tree-sitter.wasm", "tree-sitter-python/tree-sitter-python.wasm"];

/** Dependencies that the packed CLI doesn't have: those, what only its bundles use, and the bundler. */
export const NOT_INSTALLED: readonly string[] = [...new Set([...MODULES, ...FILES].map(packageName)), "@cfworker/json-schema", "esbuild"];

const REQUIRE = 'import { createRequire as vendorRequire } from "node:module"; const require = vendorRequire(import.meta.url);';

/** Writes the vendored packages to `<target>/vendor`, with their licences. */
export async function writeVendored(checkout: string, target: string): Promise<void> {
  const modules = join(checkout, "node_modules");
  const folder = join(target, "vendor");
  mkdirSync(folder, { recursive: true });
  const entries = join(target, "vendor-entries");
  mkdirSync(entries);
  for (const name of MODULES) writeFileSync(join(entries, `${fileName(name)}.mjs`), await entryOf(name));
  const { metafile } = await build({
    entryPoints: MODULES.map((name) => join(entries, `${fileName(name)}.mjs`)),
    nodePaths: [modules],
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
  rmSync(entries, { recursive: true });
  for (const path of FILES) copyInto(join(modules, path), folder);
  const packages = new Set([...Object.keys(metafile.inputs), ...FILES.map((path) => `node_modules/${path}`)].flatMap(packageFolder));
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
  const imported = MODULES.reduce((text, name) => {
    const specifier = new RegExp(`(\\bfrom\\s*|\\bimport\\s*\\(?\\s*)"${name.replaceAll(".", "\\.")}"`, "g");
    return text.replaceAll(specifier, (_, before: string) => `${before}"${vendor(`${fileName(name)}.js`)}"`);
  }, code);
  return FILES.reduce(
    (text, file) => text.replaceAll(`import.meta.resolve("${file}")`, `new URL("${vendor(basename(file))}", import.meta.url).href`),
    imported,
  );
}

/** A module's name as a file's: `@scope/name/entry.js` → `scope-name-entry`. */
function fileName(specifier: string): string {
  return specifier.replace(/^@/, "").replace(/\.js$/, "").replaceAll("/", "-");
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** A module with the exports that Node gives the package, which for CommonJS the bundler alone doesn't know. */
async function entryOf(name: string): Promise<string> {
  const exported: object = await import(name);
  return `export { ${Object.keys(exported)
    .filter((key) => key !== "module.exports")
    .join(", ")} } from ${JSON.stringify(name)};\n`;
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
