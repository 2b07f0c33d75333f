import { z } from "zod";
import { issueText } from "../bundle/issue-text.ts";

/** What a plugin can add. A contribution's name is its type; its path is a module, `dist/robot.js#robot`, or a bundle's folder. */
export const CONTRIBUTION_KINDS = [
  "envTypes",
  "artifactTypes",
  "taskSteps",
  "sandboxProviders",
  "stateProviders",
  "envProviders",
  "commands",
  "bundles",
] as const;
export type ContributionKind = (typeof CONTRIBUTION_KINDS)[number];

const Paths = z.record(z.string().min(1), z.string().min(1)).default({});
const Contributions = z.strictObject({
  format: z.literal(1),
  envTypes: Paths,
  artifactTypes: Paths,
  taskSteps: Paths,
  sandboxProviders: Paths,
  stateProviders: Paths,
  envProviders: Paths,
  commands: Paths,
  bundles: Paths,
});

/** What is read of a plugin's package.json (5-run §13.1). Other keys are its own. */
const Manifest = z.object({
  name: z.string().min(1),
  version: z.string().default("0.0.0"),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  agentEnv: Contributions,
});
export type Manifest = z.infer<typeof Manifest>;

/** A package.json as a plugin's, or what is wrong with it as one; null for a package that is no plugin. */
export function readManifest(json: unknown): { readonly manifest: Manifest } | { readonly problem: string } | null {
  if (typeof json !== "object" || json === null || !("agentEnv" in json)) return null;
  const read = Manifest.safeParse(json);
  if (read.success) return { manifest: read.data };
  const issues = read.error.issues.map((issue) => {
    if (issue.code !== "unrecognized_keys") return issueText(issue, json);
    return `${issue.path.join(".")}: unknown ${issue.keys.join(", ")}: known are ${["format", ...CONTRIBUTION_KINDS].join(", ")}`;
  });
  return { problem: `its package.json: ${issues.join("; ")}` };
}
