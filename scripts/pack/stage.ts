import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { BUNDLED_ENTRIES, bundledEntry, bundledFile } from "../../build-service/src/infra/bundle-code.ts";
import { mustRun } from "../setup/command.ts";
import { packedBundle, packedManifest, readManifest, withoutTypeScriptImports } from "./manifest.ts";
import { NOT_INSTALLED, withVendoredImports, writeVendored } from "./vendor.ts";

/** A workspace's sources, each part compiled against the types of the platform it runs on. */
export type Workspace = { readonly folder: string; readonly name: string; readonly parts: readonly SourcePart[] };
type SourcePart = { readonly include: string; readonly exclude?: string; readonly types: string };

/** Each after those it imports. */
export const WORKSPACES: readonly Workspace[] = [
  { folder: "shared", name: "@agent-env/protocol", parts: [{ include: "src", types: "node" }] },
  { folder: "sdk", name: "@agent-env/sdk", parts: [{ include: "src", types: "node" }] },
  {
    folder: "gateway-worker",
    name: "@agent-env/gateway",
    parts: [
      { include: "src", exclude: "src/hosts/workers", types: "node" },
      { include: "src/hosts/workers", types: "@cloudflare/workers-types" },
    ],
  },
  { folder: "build-service", name: "agent-env", parts: [{ include: "src", types: "node" }] },
];

/** Folders whose TypeScript is packed as JavaScript. What lies in others is packed as it is. */
const COMPILED = ["bin", "src"];

/** Not packed: what only tests use. */
const TESTS = ["**/*.test.ts", "**/test-support"];

/** Writes the JavaScript form of a workspace to `<out>/<folder>`, with declarations. Those it imports must be there already. */
export async function stageWorkspace(checkout: string, workspace: Workspace, out: string): Promise<string> {
  const source = join(checkout, workspace.folder);
  const target = join(out, workspace.folder);
  for (const [index, part] of workspace.parts.entries()) await compile({ checkout, source, target, part, out, index });
  const manifest = readManifest(readFileSync(join(source, "package.json"), "utf8"));
  for (const folder of manifest.files) {
    if (COMPILED.includes(folder)) copyAssets(join(source, folder), join(target, folder));
    else cpSync(join(source, folder), join(target, folder), { recursive: true });
  }
  if (manifest.agentEnv) await addWhatTheCliBrings(checkout, source, target, manifest.agentEnv.bundles);
  cpSync(join(checkout, "LICENSE"), join(target, "LICENSE"));
  if (existsSync(join(source, "README.md"))) cpSync(join(source, "README.md"), join(target, "README.md"));
  writeFileSync(join(target, "package.json"), `${JSON.stringify(packedManifest(manifest, NOT_INSTALLED), null, 2)}\n`);
  return target;
}

/** The CLI's package is complete by itself: bundles to run, code that goes into images, third-party code. */
async function addWhatTheCliBrings(
  checkout: string,
  source: string,
  target: string,
  bundles: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, path] of Object.entries(bundles)) cpSync(join(source, path), join(target, packedBundle(name)), { recursive: true });
  for (const specifier of BUNDLED_ENTRIES) {
    const file = join(target, bundledFile(specifier));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await bundledEntry(specifier));
  }
  await writeVendored(checkout, target);
  for (const entry of readdirSync(join(target, "src"), { recursive: true, encoding: "utf8" })) {
    if (!/\.(js|mjs)$/.test(entry)) continue;
    const file = join(target, "src", entry);
    const path = `src/${entry.split(sep).join("/")}`;
    writeFileSync(file, withVendoredImports(readFileSync(file, "utf8"), path), { mode: statSync(file).mode });
  }
}

async function compile(task: {
  checkout: string;
  source: string;
  target: string;
  part: SourcePart;
  out: string;
  index: number;
}): Promise<void> {
  const { checkout, source, target, part, out, index } = task;
  const config = {
    extends: join(checkout, "tsconfig.base.json"),
    compilerOptions: {
      noEmit: false,
      // Types are the check's affair.
      noCheck: true,
      declaration: true,
      rootDir: source,
      outDir: target,
      lib: part.types === "node" ? ["ES2024", "ESNext.Disposable"] : ["ES2024"],
      types: [part.types],
      typeRoots: [join(checkout, "node_modules", "@types"), join(checkout, "node_modules")],
      // Other workspaces are seen as they will be installed, so that their sources aren't compiled once more.
      paths: Object.fromEntries(WORKSPACES.map(({ folder, name }) => [name, [join(out, folder, "src", "index.d.ts")]])),
    },
    include: [join(source, part.include)],
    exclude: [...TESTS.map((pattern) => join(source, pattern)), ...(part.exclude ? [join(source, part.exclude)] : [])],
  };
  const file = join(out, `tsconfig.${source.split(sep).at(-1)}.${index}.json`);
  writeFileSync(file, JSON.stringify(config));
  await mustRun("tsc", ["-p", file], { budgetSeconds: 120, cwd: checkout });
  rmSync(file);
}

/** Copies what isn't TypeScript: Dockerfiles, scripts of other languages, data. Modes are kept. */
function copyAssets(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || entry.name.endsWith(".ts") || path.includes(`${sep}test-support${sep}`)) continue;
    const copy = join(to, relative(from, path));
    mkdirSync(dirname(copy), { recursive: true });
    if (/\.(js|mjs)$/.test(path)) writeFileSync(copy, withoutTypeScriptImports(readFileSync(path, "utf8")), { mode: statSync(path).mode });
    else cpSync(path, copy);
  }
}
