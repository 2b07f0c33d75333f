import type { Instruction as ParsedInstruction } from "dockerfile-ast";
import { DockerfileParser, Keyword, ModifiableInstruction, PropertyInstruction } from "dockerfile-ast";

/** One instruction of a Dockerfile, with its line continuations and the comments between them taken out. */
export type Instruction = {
  readonly line: number;
  /** In upper case. */
  readonly keyword: string;
  readonly flags: readonly { readonly name: string; readonly value: string | null }[];
  /** What follows the keyword and its flags; of a here-document only the line that starts it. */
  readonly text: string;
  /** `name=value` pairs of `ENV`, `ARG` and `LABEL`, the values with their quotes; null for a bare name. */
  readonly pairs: readonly (readonly [name: string, value: string | null])[];
  readonly hereDocument: boolean;
};

export type DockerfileText = { readonly instructions: readonly Instruction[]; readonly escapeCharacter: string };

/** Keywords that take here-documents. */
const TAKES_HERE_DOCUMENTS: readonly string[] = [Keyword.ADD, Keyword.COPY, Keyword.RUN];

/** The instructions of a Dockerfile in order. Reads anything: what makes no sense is left to whoever follows them. */
export function readInstructions(text: string): DockerfileText {
  const parsed = DockerfileParser.parse(text);
  return { instructions: parsed.getInstructions().map(read), escapeCharacter: parsed.getEscapeCharacter() };
}

function read(parsed: ParsedInstruction): Instruction {
  const keyword = parsed.getKeyword();
  const raw = parsed.getRawArgumentsContent() ?? "";
  const hereDocument = TAKES_HERE_DOCUMENTS.includes(keyword) && /<<-?\s*["']?[A-Za-z_]/.test(raw);
  return {
    line: parsed.getRange().start.line + 1,
    keyword,
    flags:
      parsed instanceof ModifiableInstruction ? parsed.getFlags().map((flag) => ({ name: flag.getName(), value: flag.getValue() })) : [],
    text: hereDocument ? (raw.split("\n")[0] ?? "") : withoutContinuations(raw),
    pairs:
      parsed instanceof PropertyInstruction
        ? parsed.getProperties().map((property) => [property.getName(), property.getUnescapedValue()] as const)
        : [],
    hereDocument,
  };
}

/** Joins continued lines as Docker does: the backslash and its line break go, and so do comment lines in between. */
function withoutContinuations(raw: string): string {
  const lines = raw.split(/\r?\n/);
  const kept = lines.filter((line, index) => index === 0 || !/^\s*(#|$)/.test(line));
  return kept
    .map((line) => (line.trimEnd().endsWith("\\") ? line.trimEnd().slice(0, -1) : line))
    .join("")
    .trim();
}

/** The words of an exec form (`["node", "server.ts"]`), or null when the text is no such list: then it is a shell form. */
export function execForm(text: string): readonly string[] | null {
  if (!text.startsWith("[")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((word): word is string => typeof word === "string") ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
