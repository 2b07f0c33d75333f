import { readFile } from "node:fs/promises";
import { z } from "zod";
import { bundledEntry } from "./bundle-code.ts";

/** Where the SDK lies, from the root of an image or of a process's folder. An env in `/app` finds it by its name. */
const ROOT = "node_modules/@agent-env/sdk";
export const FRONT_END_COMMAND = "agent-env-front-end";

/** A base image's files: their paths, and the text of each, made when it is asked for. */
export type BaseFiles = { readonly paths: readonly string[]; text(path: string): Promise<string> };

const COMMAND_PATH = `node_modules/.bin/${FRONT_END_COMMAND}`;

/** What `agent-env/sdk` adds to its own base. Bundling it takes a second, and its paths alone say whether an image can run. */
export const sdkBaseFiles: BaseFiles = {
  paths: [COMMAND_PATH, `${ROOT}/front-end.js`, `${ROOT}/index.js`, `${ROOT}/package.json`, `${ROOT}/testing.js`],
  async text(path) {
    const text = (await sdkFiles()).get(path);
    if (text === undefined) throw new Error(`the SDK has no ${path}`);
    return text;
  },
};

let made: Promise<ReadonlyMap<string, string>> | null = null;

/**
 * The SDK as JavaScript with all its dependencies inside, by path from the root, sorted: what the base image
 * `agent-env/sdk:<version>` holds, and what the process provider lays out. What lies in `node_modules/.bin` is executable. Made
 * once a process.
 */
export function sdkFiles(): Promise<ReadonlyMap<string, string>> {
  made ??= makeSdkFiles();
  return made;
}

/** The SDK's version: the only tag of the base image that this CLI makes. */
export async function sdkVersion(): Promise<string> {
  const manifest = await readFile(new URL("../package.json", import.meta.resolve("@agent-env/sdk")), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}

async function makeSdkFiles(): Promise<ReadonlyMap<string, string>> {
  const [library, frontEnd, testing, version] = await Promise.all([
    bundledEntry("@agent-env/sdk/bundle"),
    bundledEntry("@agent-env/sdk/front-end"),
    bundledEntry("@agent-env/sdk/testing"),
    sdkVersion(),
  ]);
  const manifest = {
    name: "@agent-env/sdk",
    version,
    type: "module",
    exports: { ".": "./index.js", "./testing": "./testing.js" },
    bin: { [FRONT_END_COMMAND]: "./front-end.js" },
  };
  return new Map([
    [COMMAND_PATH, `#!/usr/bin/env node\nimport("../@agent-env/sdk/front-end.js");\n`],
    [`${ROOT}/front-end.js`, frontEnd],
    [`${ROOT}/index.js`, library],
    [`${ROOT}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`],
    [`${ROOT}/testing.js`, testing],
  ]);
}
