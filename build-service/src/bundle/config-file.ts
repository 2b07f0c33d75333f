import { readFileSync, statSync } from "node:fs";
import { parseJson } from "./json.ts";
import { parseToml, type TomlTable } from "./toml.ts";

const MAX_BYTES = 8 * 1024 * 1024;

/** A config file's content and text, or why it can't be used: one sentence for a problem's message. */
export type ConfigFile<Value> = { readonly value: Value; readonly text: string } | { readonly problem: string };

export function readTomlFile(disk: string): ConfigFile<TomlTable> {
  return readConfigFile(disk, "TOML", parseToml);
}

export function readJsonFile(disk: string): ConfigFile<unknown> {
  return readConfigFile(disk, "JSON", parseJson);
}

function readConfigFile<Value>(disk: string, format: string, parse: (text: string) => Value): ConfigFile<Value> {
  const read = readConfigText(disk);
  if ("problem" in read) return read;
  try {
    return { value: parse(read.text), text: read.text };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `is no valid ${format}: ${error.message}` };
  }
}

/** The text of a regular file of at most 8 MiB in UTF-8, with or without BOM, with line feeds only. */
export function readConfigText(disk: string): { readonly text: string } | { readonly problem: string } {
  try {
    const { size } = statSync(disk);
    if (size > MAX_BYTES) return { problem: `has ${size} bytes, and a config file may have ${MAX_BYTES}` };
    return decodeUtf8(readFileSync(disk));
  } catch (error) {
    return { problem: `can't be read: ${ioReason(error)}` };
  }
}

function decodeUtf8(bytes: Uint8Array): ReturnType<typeof readConfigText> {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r\n?/g, "\n") };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { problem: "isn't UTF-8: save it in that encoding" };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "its links form a loop",
  ENOENT: "it isn't there",
  EISDIR: "it is a folder",
  ENAMETOOLONG: "its path is too long",
};

/** Why an item that a folder lists can't be looked at: bytes of a name that are no UTF-8 arrive as another character. */
export function missingReason(name: string, error: unknown): string {
  return name.includes("\ufffd") ? "its name isn't UTF-8: rename it" : ioReason(error);
}

/** What a file system's error means, for a message. Anything that is no such error is thrown on. */
export function ioReason(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") throw error;
  return REASONS[error.code] ?? error.code;
}
