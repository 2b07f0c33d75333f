import type { Subject } from "./check.ts";

/** Something that several checks of a subject look at: read when it is first asked for, and then kept. */
export function once<T>(read: (subject: Subject) => Promise<T>): (subject: Subject) => Promise<T> {
  const known = new WeakMap<Subject, Promise<T>>();
  return (subject) => {
    const made = known.get(subject) ?? read(subject);
    known.set(subject, made);
    return made;
  };
}
