import { DATA_OBJECTS_URI, type Grant, isObjectPath, type Part } from "@agent-env/protocol";
import { send, transferFailed } from "./send.ts";

/** Writes what `data/get` names under the grant that came with it, within the grant's limits. One writer for a grant. */
export class ObjectWriter {
  readonly #grant: Grant;
  readonly #waitsMs: readonly number[] | undefined;
  /** What was written, by path: a path written again counts once. */
  readonly #sizes = new Map<string, number>();
  /** Limits hold over all objects, so they are written one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(grant: Grant, waitsMs?: readonly number[]) {
    this.#grant = grant;
    this.#waitsMs = waitsMs;
  }

  /**
   * Writes one object, and gives the part that names it. `path` is relative to the grant's root. Throws an `AgentEnvError`:
   * `invalid_transfer`, `transfer_too_large`, `grant_expired`, or what the store had against it.
   */
  async write(path: string, bytes: Uint8Array, named: { readonly name?: string; readonly mimeType?: string } = {}): Promise<Part> {
    const written = this.#last.then(() => this.#write(path, bytes, named.mimeType));
    this.#last = written.catch(() => undefined);
    await written;
    return { kind: "file", file: { uri: path, ...named }, metadata: { [DATA_OBJECTS_URI]: { path } } };
  }

  async #write(path: string, bytes: Uint8Array, mimeType = "application/octet-stream"): Promise<void> {
    const { root_path, expires_at, max_objects, max_object_bytes, max_total_bytes, write } = this.#grant;
    if (!isObjectPath(path)) {
      throw transferFailed("invalid_transfer", `${JSON.stringify(path)} is no path under the grant's root`);
    }
    const sizes = new Map([...this.#sizes, [path, bytes.length]]);
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (bytes.length > max_object_bytes) throw tooLarge(path, bytes.length, `${max_object_bytes} bytes an object`);
    if (sizes.size > max_objects) throw tooLarge(path, bytes.length, `${max_objects} objects`);
    if (total > max_total_bytes) throw tooLarge(path, bytes.length, `${max_total_bytes} bytes in all`);

    const request = (): RequestInit => {
      const form = new FormData();
      const fields = { "Content-Type": mimeType, ...write.fields, [write.path_field]: `${root_path}/${path}` };
      for (const [field, value] of Object.entries(fields)) form.append(field, value);
      // What stands behind the file in such a form isn't read by every store.
      form.append(write.file_field, new Blob([Uint8Array.from(bytes)], { type: mimeType }), path.split("/").at(-1));
      return { method: "POST", body: form, headers: write.headers };
    };
    const sending = { url: write.url, expiresAt: expires_at, request, waitsMs: this.#waitsMs };
    await send(sending, async (answer) => void (await answer.arrayBuffer()));
    this.#sizes.set(path, bytes.length);
  }
}

const tooLarge = (path: string, bytes: number, limit: string) =>
  transferFailed("transfer_too_large", `${JSON.stringify(path)} of ${bytes} bytes is more than the grant allows: ${limit}`);
