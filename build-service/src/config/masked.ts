import { isTable } from "../bundle/toml.ts";
import { referenceIn } from "./reference.ts";

const MASK = "***";
const SECRET_NAME = /(?:^|[_-])(?:key|token|secret|password|passwd|passphrase|credentials?|authorization|cookie)$/i;

/** Whether a name says that its value is secret, where nothing else is known of it. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** A value as it may be shown: secrets masked, by what is known of the key and by the names in it. */
export function masked(value: unknown, isSecret: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, isSecret));
  if (isTable(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item, isSecret || isSecretName(name))]));
  }
  if (value === undefined || value === null) return value;
  const reference = referenceIn(value);
  if (reference !== null) {
    const { from, name, fallback } = reference;
    return fallback === null ? value : `${from}:${name}?${isSecret || from === "secret" ? MASK : withoutUser(fallback)}`;
  }
  if (isSecret) return MASK;
  return typeof value === "string" ? withoutUser(value) : value;
}

/** An address without the user and password in it. */
function withoutUser(text: string): string {
  return text.replace(/(\/\/)[^/@\s]+@/, `$1${MASK}@`);
}
