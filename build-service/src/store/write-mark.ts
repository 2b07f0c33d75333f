import { randomBytes } from "node:crypto";

/** The metadata key that names one write. It is ours: no reader of an object sees it. */
const MARK = "agent-env-write";

/**
 * What lets a conditional write be repeated whose answer was lost: each call puts a mark of its own into the object's
 * metadata, and a repetition that finds the key taken looks whether its own mark is there. An etag would not do: it is
 * equal for equal bytes of two writers, and is no digest of the bytes for an object that was uploaded in parts.
 */
export function newWriteMark(): string {
  return randomBytes(12).toString("hex");
}

export function withMark(metadata: Readonly<Record<string, string>>, mark: string): Record<string, string> {
  return { ...metadata, [MARK]: mark };
}

export function isMarked(metadata: Readonly<Record<string, string>> | undefined, mark: string): boolean {
  return metadata?.[MARK] === mark;
}

/** The metadata as the writer gave it. */
export function withoutMark(metadata: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const { [MARK]: _mark, ...given } = metadata ?? {};
  return given;
}
