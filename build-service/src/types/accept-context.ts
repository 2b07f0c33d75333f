import type { ProblemCode } from "@agent-env/protocol";
import type { EntryFile } from "../bundle/folder-files.ts";
import type { CardScan } from "../images/card-scan/scan.ts";
import type { Fields } from "./type.ts";

/** Where a problem of an entry is: its toml, the entry itself, or a path in its folder. */
export type ProblemPlace = "toml" | "entry" | { readonly path: string };

/** What a type may ask while it judges an entry. It reads no store. */
export type AcceptContext = {
  /** The entry's id. */
  readonly id: string;
  /** The keys that the type declares, of the right kinds; what isn't so is reported. */
  accepted(): Fields;
  /**
   * What `accepted` gives, with the provider filled in and judged. `namedBy` is the image key whose source names the env
   * when `environment_name` is left out; null: the env has no name of its own.
   */
  acceptedEnv(options: { readonly namedBy: string | null }): Promise<Fields>;
  /** What the source of an image says about the env's name; null for an image that isn't built from this folder. */
  cardNames(imageKey: string): Promise<CardScan | null>;
  /** The files of the folder, without the toml. */
  files(): readonly EntryFile[];
  /** What the folder holds: its files, and the folders in it that are empty. */
  listing(): readonly { readonly path: string; readonly is: "file" | "folder" }[];
  /** The folder's only file; reported and null when there is another number of them. */
  oneFile(): EntryFile | null;
  problem(code: ProblemCode, message: string, place?: ProblemPlace): void;
};
