/** A refusal that these tests don't reach: the file below `build-service/src`, a part of its text, and why not or where. */
export type Elsewhere = { readonly file: string; readonly text: string; readonly why: string };

/** Each is printed with its reason; one that a test reaches, or that isn't there any more, is a fault. */
export const ELSEWHERE: readonly Elsewhere[] = [];
