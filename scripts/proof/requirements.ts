/** A promise of the product, as `docs/requirements.md` lists it. */
export type Requirement = { readonly id: string; readonly text: string };

/** The requirements of a Markdown text: the lines `- **B1.1** …`. Throws on an id that is there twice. */
export function requirementsIn(markdown: string): Requirement[] {
  const requirements = [...markdown.matchAll(/^- \*\*([A-Z]\d+(?:\.\d+)?)\*\* (.+)$/gm)].map(([, id = "", text = ""]) => ({ id, text }));
  const twice = requirements.find(({ id }, index) => requirements.findIndex((other) => other.id === id) !== index);
  if (twice) throw new Error(`docs/requirements.md lists ${twice.id} twice`);
  return requirements;
}

/** Whether `id` is one of `selected`, or below one: `B8` selects `B8.1`, not `B81`. An empty list selects all. */
export function isSelected(id: string, selected: readonly string[]): boolean {
  return (
    selected.length === 0 ||
    selected.some((prefix) => id === prefix || id.startsWith(`${prefix}.`) || (/^[A-Z]$/.test(prefix) && id.startsWith(prefix)))
  );
}
