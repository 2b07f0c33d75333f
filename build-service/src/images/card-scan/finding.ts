/** One environment card in a source file. `name` is null where it is no literal, so that only running it would tell. */
export type CardFinding = { readonly line: number; readonly name: string | null };

/** What a source file says about cards, or why it can't be read: its first error. */
export type SourceScan = { readonly findings: readonly CardFinding[] } | { readonly error: string };
