import { posix } from "node:path";
import type { SourceFile } from "./source-files.ts";

/** A package of the workspace: its folder, and the packages that its package.json names for use at run time. */
export type PackageManifest = {
  readonly folder: string;
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
};

/** The arrows between packages: what each may import of the others. Nobody imports the CLI, the tests or the scripts. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  sdk: ["@agent-env/protocol"],
  "gateway-worker": ["@agent-env/protocol"],
  "build-service": ["@agent-env/protocol"],
};

type Rule = { readonly files: RegExp; readonly refuses: (target: string) => boolean; readonly except?: RegExp; readonly says: string };

const builtIn = (target: string) => target.startsWith("node:") || target.startsWith("cloudflare:");
const inFolder =
  (...folders: string[]) =>
  (target: string) =>
    folders.some((folder) => target.startsWith(`${folder}/`));

/** Arrows within packages. A target is a path in the checkout, or a module's name. */
const RULES: readonly Rule[] = [
  { files: /^shared\//, refuses: builtIn, says: "shared/ uses nothing of a platform" },
  { files: /^gateway-worker\/src\/(core|routes)\//, refuses: builtIn, says: "core/ and routes/ use nothing of a platform" },
  {
    files: /^gateway-worker\/src\/core\//,
    refuses: inFolder("gateway-worker/src/hosts", "gateway-worker/src/routes"),
    says: "core/ knows neither hosts nor routes",
  },
  { files: /^gateway-worker\/src\/routes\//, refuses: inFolder("gateway-worker/src/hosts"), says: "routes/ knows no host" },
  {
    files: /^gateway-worker\/src\/hosts\/node\//,
    refuses: inFolder("gateway-worker/src/hosts/workers"),
    says: "hosts don't know each other",
  },
  {
    files: /^gateway-worker\/src\/hosts\/workers\//,
    refuses: inFolder("gateway-worker/src/hosts/node"),
    says: "hosts don't know each other",
  },
  {
    files: /^build-service\/src\/(bundle|types|images|store|providers|infra|deploy|conformance)\//,
    refuses: inFolder("build-service/src/run", "build-service/src/cli"),
    except: /^build-service\/src\/run\/steps\//,
    says: "planning, images, records and deploys come before run/ and cli/ (only run/steps/ is declared to them)",
  },
  {
    files: /^build-service\/src\/(?!cli\/)/,
    refuses: inFolder("build-service/src/cli"),
    says: "only cli/ imports cli/",
  },
];

/** Every import that goes against an arrow, and every other place than `report/` and `cli/` that prints. Tests are free. */
export function directionProblems(files: readonly SourceFile[], manifests: readonly PackageManifest[]): string[] {
  return files
    .filter(({ path }) => !path.endsWith(".test.ts"))
    .flatMap((file) => [...importProblems(file, manifests), ...printProblems(file)]);
}

function importProblems(file: SourceFile, manifests: readonly PackageManifest[]): string[] {
  const own = manifests.find(({ folder }) => file.path.startsWith(`${folder}/`));
  return file.imports.flatMap((specifier) => {
    const target = specifier.startsWith(".") ? posix.join(posix.dirname(file.path), specifier) : specifier;
    const broken = RULES.filter((rule) => rule.files.test(file.path) && rule.refuses(target) && !rule.except?.test(target));
    const reasons = [...broken.map(({ says }) => says), ...(own ? packageReasons(own, target, specifier) : [])];
    return reasons.map((reason) => `${file.path}: imports ${JSON.stringify(specifier)}: ${reason}`);
  });
}

function packageReasons(own: PackageManifest, target: string, specifier: string): string[] {
  if (specifier.startsWith(".")) {
    return target.startsWith(`${own.folder}/`) ? [] : [`${own.folder}/ takes from another package only what that exports, by its name`];
  }
  const name = packageName(specifier);
  if (builtIn(specifier) || name === own.name) return [];
  const isOurs = name === "agent-env" || name.startsWith("@agent-env/");
  if (isOurs && !(ARROWS[own.folder] ?? []).includes(name)) return [`no arrow leads from ${own.folder}/ to ${name}`];
  return own.dependencies.includes(name) ? [] : [`${own.folder}/package.json does not name ${name}`];
}

function printProblems({ path, code }: SourceFile): string[] {
  if (!path.startsWith("build-service/src/") || /^build-service\/src\/(report|cli)\//.test(path)) return [];
  const prints = /\bprocess\.stdout\b|\bconsole\.(log|info|debug|table|dir)\b/;
  return code
    .split("\n")
    .flatMap((line, index) =>
      prints.test(line) ? [`${path}:${index + 1}: prints; only report/ and cli/ do, the others emit events`] : [],
    );
}

/** `@scope/name/entry` and `name/entry` without the entry. */
function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
