import type { Sql } from "../seam.ts";

/** The last two keys open, the last one seals. */
const KEYS_KEPT = 2;
const MARK = "1.";
const IV_BYTES = 12;

type SealingKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Seals small texts with a key of the deployment, which lies in its own database and nowhere else. */
export class Vault {
  readonly #keys: Promise<SealingKey[]>;

  constructor(sql: Sql) {
    this.#keys = Promise.all(secretsOf(sql).map(importedKey));
    this.#keys.catch(() => undefined);
  }

  /** A text that only this deployment can open: a version mark and base64url. */
  async seal(text: string): Promise<string> {
    const [key] = await this.#keys;
    if (key === undefined) throw new Error("a vault without a key");
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const box = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new TextEncoder().encode(text)));
    const whole = new Uint8Array(iv.length + box.length);
    whole.set(iv);
    whole.set(box, iv.length);
    return MARK + base64url(whole);
  }

  /** What was sealed; null for anything that no key of this deployment opens. */
  async open(sealed: string): Promise<string | null> {
    const bytes = sealed.startsWith(MARK) ? bytesOf(sealed.slice(MARK.length)) : null;
    if (bytes === null || bytes.length <= IV_BYTES) return null;
    for (const key of await this.#keys) {
      const opened = await crypto.subtle
        .decrypt({ name: "AES-GCM", iv: bytes.slice(0, IV_BYTES) }, key, bytes.slice(IV_BYTES))
        .catch(() => null);
      if (opened !== null) return new TextDecoder().decode(opened);
    }
    return null;
  }
}

/** Newest first; the first one is made here. */
function secretsOf(sql: Sql): string[] {
  const rows = () => sql.exec("SELECT secret FROM secrets ORDER BY n DESC LIMIT ?", KEYS_KEPT).map((row) => String(row["secret"]));
  if (rows().length === 0) sql.exec("INSERT INTO secrets (secret) VALUES (?)", base64url(crypto.getRandomValues(new Uint8Array(32))));
  return rows();
}

async function importedKey(secret: string): Promise<SealingKey> {
  const bytes = bytesOf(secret);
  if (bytes === null) throw new Error("a stored key is no base64url");
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w-]*$/.test(text)) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}
