import { z } from "zod";
import type { Emit } from "../report/events.ts";
import type { BaseRequest } from "./bases-held.ts";
import type { Locked } from "./locked.ts";

/** One entry of a build context. `path` is relative, with `/`, and has no `.` or `..` segment. */
export type SourceEntry =
  | { readonly kind: "file"; readonly path: string; bytes(): Uint8Array; readonly executable: boolean }
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

/** A build context that is only looked into: a file's bytes are read when they are asked for. */
export type ImageContext = {
  /** Path of the Dockerfile in the context, with `/`. */
  readonly dockerfile: string;
  entries(): Promise<readonly SourceEntry[]>;
};

/** Everything an image is built from: exactly the files that were hashed (4-bundle §10.1–2). */
export type ImageSource = ImageContext & {
  /** 64 hex digits: the source digest, scheme 1. */
  readonly digest: string;
  readonly dockerfileText: string;
  readonly platform: string | null;
  /** path → `sha256:<hex>`, with `+x` appended when executable; sorted by code point. */
  readonly files: Readonly<Record<string, string>>;
  /** The deterministic tar, made anew at each call from the bytes that were hashed. */
  tar(signal?: AbortSignal): Promise<Uint8Array>;
};

export type BuildRequest = {
  /** Shown in events: `envs/items (Dockerfile image)`. */
  readonly entry: string;
  readonly imageId: string;
  readonly sourceDigest: string;
  readonly dockerfile: string;
  readonly platform: string | null;
  readonly tag: string;
  readonly context: Uint8Array;
  /** Base images that are taken by their digest, whatever their tags name by now; left out: none. */
  readonly locked?: Locked;
  /** Every step is run, also where the Engine holds its result. */
  readonly isFresh?: boolean;
};

export type BuildResult = {
  /** `sha256:…`, the digest of the image's config: its identity on the Engine. */
  readonly engineImageId: string;
  /** Reference in `FROM` or `--from` → the Engine's id of it at build time. */
  readonly bases: Readonly<Record<string, string>>;
  /** Of those, what was taken by its digest; left out: none. */
  readonly locked?: Readonly<Record<string, string>>;
  readonly log: string;
};

/** Builds images on an Engine and says what it holds. Null where no selected deploy needs one (the process provider). */
export interface ImageBuilder {
  build(request: BuildRequest, emit: Emit, signal: AbortSignal): Promise<BuildResult>;
  /** The Engine's own platform, as `linux/amd64`: what an image without a platform is built for. */
  platform(): Promise<string>;
  holds(engineImageId: string): Promise<boolean>;
  /** The Engine's ids of those references that it holds now. */
  idsOf(references: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /**
   * Fetches a base image anew from its registry, and gives its digest there; null for one of ours, which comes from none. Throws
   * a UserError when it can't be had.
   */
  fetchBase(reference: string, request: Pick<BaseRequest, "entry" | "platform" | "emit" | "signal">): Promise<string | null>;
}

/** `builds/<encoded id>/<version>/<platform>/<n>.json` (4-bundle §10.3). The highest n holds. */
export const BuildRow = z.object({
  image_id: z.string(),
  /** What it was built from. A row whose digest is not its record's was left by a run that ended before the record. */
  source_digest: z.string(),
  bases: z.record(z.string(), z.string()),
  /** Of those, what a lock file named by its digest: reference → digest. */
  locked: z.record(z.string(), z.string()).optional(),
  built_at: z.string(),
  /** `r2:<key>` of the whole log. */
  log: z.string(),
});
export type BuildRow = z.infer<typeof BuildRow>;
