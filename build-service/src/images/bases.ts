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

/** Reads a Dockerfile as the Engine would: `ARG` defaults from before the first `FROM` apply in `FROM` (4-bundle §10.4). */
export function dockerfileFacts(text: string): DockerfileFacts {
  const dockerfile = DockerfileParser.parse(text);
  const defaults = new Map<string, string>();
  for (const arg of dockerfile.getInitialARGs()) {
    const property = arg.getProperty();
    const value = property?.getValue();
    if (property && typeof value === "string") defaults.set(property.getName(), expanded(value, defaults) ?? value);
  }

  const stages = new Set<string>();
  const bases = new Set<string>();
  for (const from of dockerfile.getFROMs()) {
    const reference = expanded(from.getImage() ?? "", defaults);
    if (reference && reference !== "scratch" && !stages.has(reference.toLowerCase())) bases.add(reference);
    const stage = from.getBuildStage();
    if (stage !== null) stages.add(stage.toLowerCase());
  }
  for (const copy of dockerfile.getCOPYs()) {
    // Not expanded here: the builder doesn't either.
    const source = flagsOf(copy)
      .find((flag) => flag.getName() === "from")
      ?.getValue();
    if (source && source !== "scratch" && !/^\d+$/.test(source) && !source.includes("$") && !stages.has(source.toLowerCase())) {
      bases.add(source);
    }
  }
  return { bases: [...bases], needsBuildKit: dockerfile.getInstructions().flatMap(buildKitReasons) };
}

type Instruction = ReturnType<ReturnType<typeof DockerfileParser.parse>["getInstructions"]>[number];
type Flag = { getName(): string; getValue(): string | null };

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
