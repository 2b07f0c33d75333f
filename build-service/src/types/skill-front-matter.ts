import { tableOf } from "@agent-env/protocol";
import { z } from "zod";
import { readConfigText } from "../bundle/config-file.ts";
import { issueText } from "../bundle/issue-text.ts";
import { parseYaml } from "../bundle/yaml.ts";

/** `characters` are code points, as people count them. */
const text = (characters: number) =>
  z.string().refine((value) => [...value].length <= characters, { error: `has more than ${characters} characters` });

const NAME = "expected 1 to 64 of a-z, 0-9 and -, without a - at an end and without two in a row";

/** What opens a SKILL.md (4-bundle §4.5). Further keys are the skill's own. */
const FrontMatter = z.object({
  name: z.string().refine((name) => name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name), { error: NAME }),
  description: text(1024).refine((value) => value.trim() !== "", { error: "is empty: say what the skill is for" }),
  compatibility: text(500).optional(),
  license: z.string().optional(),
  "allowed-tools": z.string().optional(),
  metadata: tableOf(z.string()).optional(),
});
export type FrontMatter = z.infer<typeof FrontMatter>;

/** A skill's front matter, or what is wrong with it: one line each. */
export function readFrontMatter(skillMd: string): { readonly value: FrontMatter } | { readonly problems: readonly string[] } {
  const read = readConfigText(skillMd);
  if ("problem" in read) return { problems: [`SKILL.md: ${read.problem}`] };
  const block = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/.exec(read.text)?.[1];
  if (block === undefined) {
    return { problems: ["SKILL.md: opens with no YAML between lines of ---, which must say the skill's name and description"] };
  }
  try {
    const raw = parseYaml(block, 2) ?? {};
    const parsed = FrontMatter.safeParse(raw);
    if (parsed.success) return { value: parsed.data };
    return { problems: parsed.error.issues.map((issue) => `SKILL.md: ${issueText(issue, raw, "what it opens with")}`) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problems: [`SKILL.md: what it opens with is no valid YAML: ${error.message}`] };
  }
}
