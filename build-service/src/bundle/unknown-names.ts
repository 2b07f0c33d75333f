import { nearName } from "@agent-env/protocol";
import { listed } from "./shown.ts";

/**
 * What was probably meant by names that aren't known, for after them in a message: ` (probably "image")`. Empty where none
 * of the known names is close.
 */
export function probably(unknown: readonly string[], known: readonly string[]): string {
  const near = unknown.map((text) => nearName(text, known)).filter((name) => name !== null);
  return near.length === 0 ? "" : ` (probably ${listed(near)})`;
}

/** What to say of keys that `owner` doesn't take: `unknown key "imgae" (probably "image"): mcp_server takes image, id`. */
export function unknownKeys(unknown: readonly string[], owner: string, takes: readonly string[]): string {
  const keys = `${unknown.length === 1 ? "key" : "keys"} ${listed(unknown)}`;
  return `unknown ${keys}${probably(unknown, takes)}: ${owner} takes ${takes.join(", ")}`;
}
