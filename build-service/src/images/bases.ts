import { DockerfileParser } from "dockerfile-ast";

/** What a Dockerfile says about images and builders, without building it. */
export type DockerfileFacts = {
  /** References in `FROM` and `--from`, in order, without repeats: stages, `scratch` and unresolvable ones excluded. */
  readonly bases: readonly string[];
  /** Why the Engine's classic builder can't build it: `line 4: RUN --mount needs BuildKit`. Empty when it can. */
  readonly needsBuildKit: readonly string[];
};

/** Flags that only BuildKit takes, by instruction. */
const BUILDKIT_FLAGS: Readonly<Record<string, readonly string[]>> = {
  RUN: ["mount", "network", "security", "device"],
  COPY: ["chmod", "link", "parents", "exclude"],
  ADD: ["chmod", "link", "keep-git-dir", "checksum", "exclude", "unpack"],
};

/** A base image at its place in a Dockerfile's text. */
export type BaseMention = { readonly reference: string; readonly start: number; readonly end: number };

/** Reads a Dockerfile as the Engine would. */
export function dockerfileFacts(text: string): DockerfileFacts {
  const bases = new Set(baseMentions(text).map(({ reference }) => reference));
  return { bases: [...bases], needsBuildKit: DockerfileParser.parse(text).getInstructions().flatMap(buildKitReasons) };
}

/**
 * Where a Dockerfile names images in `FROM` and `--from`: stages, `scratch` and unresolvable ones left out. `ARG` defaults
 * from before the first `FROM` apply in `FROM` (4-bundle §10.4).
 */
export function baseMentions(text: string): BaseMention[] {
  const dockerfile = DockerfileParser.parse(text);
  const lines = lineStarts(text);
  const mention = (reference: string, range: Range): BaseMention => ({
    reference,
    start: (lines[range.start.line] ?? 0) + range.start.character,
    end: (lines[range.end.line] ?? 0) + range.end.character,
  });
  const defaults = new Map<string, string>();
  for (const arg of dockerfile.getInitialARGs()) {
    const property = arg.getProperty();
    const value = property?.getValue();
    if (property && typeof value === "string") defaults.set(property.getName(), expanded(value, defaults) ?? value);
  }

  const stages = new Set<string>();
  const mentions: BaseMention[] = [];
  for (const from of dockerfile.getFROMs()) {
    const reference = expanded(from.getImage() ?? "", defaults);
    const range = from.getImageRange();
    if (reference && range && reference !== "scratch" && !stages.has(reference.toLowerCase())) mentions.push(mention(reference, range));
    const stage = from.getBuildStage();
    if (stage !== null) stages.add(stage.toLowerCase());
  }
  for (const copy of dockerfile.getCOPYs()) {
    // Not expanded here: the builder doesn't either.
    const flag = flagsOf(copy).find((one) => one.getName() === "from");
    const source = flag?.getValue();
    const range = flag?.getValueRange();
    if (source && range && source !== "scratch" && !/^\d+$/.test(source) && !source.includes("$") && !stages.has(source.toLowerCase())) {
      mentions.push(mention(source, range));
    }
  }
  return mentions;
}

/** Where each line of a text begins; lines end as the parser has it: `\n`, `\r\n` or `\r`. */
function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: end }) => index + end.length)];
}

type Instruction = ReturnType<ReturnType<typeof DockerfileParser.parse>["getInstructions"]>[number];
type Place = { readonly line: number; readonly character: number };
type Range = { readonly start: Place; readonly end: Place };
type Flag = { getName(): string; getValue(): string | null; getValueRange(): Range | null };

function buildKitReasons(instruction: Instruction): string[] {
  const keyword = instruction.getKeyword().toUpperCase();
  const at = `line ${instruction.getRange().start.line + 1}: ${keyword}`;
  const only = BUILDKIT_FLAGS[keyword] ?? [];
  const reasons = flagsOf(instruction)
    .filter((flag) => only.includes(flag.getName()))
    .map((flag) => `${at} --${flag.getName()} needs BuildKit`);
  const takesHereDocument = keyword === "RUN" || keyword === "COPY" || keyword === "ADD";
  if (takesHereDocument && hasHereDocument(instruction.getRawArgumentsContent() ?? ""))
    reasons.push(`${at} with a here-document needs BuildKit`);
  return reasons;
}

function flagsOf(instruction: object): readonly Flag[] {
  return "getFlags" in instruction && typeof instruction.getFlags === "function" ? instruction.getFlags() : [];
}

/** A word of the first line that starts one, as BuildKit reads it: `<<EOF`, `<<-"EOF"`, `3<<EOF`; not `<<<` or `$((1<<N))`. */
function hasHereDocument(args: string): boolean {
  const firstLine = args.split("\n", 1)[0] ?? "";
  return firstLine.split(/\s+/).some((word) => /^\d*<<-?(["']?)[A-Za-z_]\w*\1$/.test(word));
}

/** `$NAME`, `${NAME}`, `${NAME:-word}`, `${NAME:+word}` replaced; null when a name has no value. */
function expanded(reference: string, defaults: ReadonlyMap<string, string>): string | null {
  let resolvable = true;
  const text = reference.replace(
    /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::([-+])([^}]*))?\})/g,
    (_all, plain: string | undefined, braced: string | undefined, operator: string | undefined, word: string | undefined) => {
      const value = defaults.get(plain ?? braced ?? "") ?? "";
      if (operator === "-") return value === "" ? (word ?? "") : value;
      if (operator === "+") return value === "" ? "" : (word ?? "");
      if (value === "") resolvable = false;
      return value;
    },
  );
  return resolvable ? text : null;
}
