/** A refusal that these tests don't reach: the file below `build-service/src`, a part of its text, and why not or where. */
export type Elsewhere = { readonly file: string; readonly text: string; readonly why: string };

/** Each is printed with its reason; one that a test reaches, or that isn't there any more, is a fault. */
export const ELSEWHERE: readonly Elsewhere[] = [
  {
    file: "store/local.ts",
    text: "the disk is full",
    why: "needs a full disk, and a process that meets it: test/chaos/disk-full.test.ts",
  },
  { file: "store/remote/objects.ts", text: "too large for the store", why: "needs more than 5 GiB of memory" },
];
