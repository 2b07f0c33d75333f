import { baseMentions } from "./bases.ts";

/** Base images that a bundle fixes: reference as a Dockerfile has it → digest (4-bundle §10.5). */
export type Locked = ReadonlyMap<string, string>;

/** The reference of a locked base by its digest, else the reference itself. */
export function lockedReference(reference: string, locked: Locked): string {
  const digest = locked.get(reference);
  return digest === undefined ? reference : `${repositoryOf(reference)}@${digest}`;
}

/** A reference without its tag and digest. */
export function repositoryOf(reference: string): string {
  const [name = ""] = reference.split("@");
  const lastPart = name.slice(name.lastIndexOf("/") + 1);
  return lastPart.includes(":") ? name.slice(0, name.lastIndexOf(":")) : name;
}

/** A Dockerfile's text with each locked base named by its digest; null where none is locked. All else stays as it is. */
export function lockedDockerfile(text: string, locked: Locked): string | null {
  const mentions = baseMentions(text).filter(({ reference }) => locked.has(reference));
  if (mentions.length === 0) return null;
  return mentions
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (changed, { reference, start, end }) => changed.slice(0, start) + lockedReference(reference, locked) + changed.slice(end),
      text,
    );
}
