import { sha256Hex } from "../bundle/ids.ts";
import type { ImageSource } from "../images/builder.ts";
import { lookedInto, packedContext } from "../images/context.ts";
import { sourceDigest, withMode } from "../images/digest.ts";

/** What an image of ours is built from: files that exist in memory only. `executable` lists the paths of those that are. */
export function sourceOf(files: ReadonlyMap<string, string>, executable: readonly string[] = []): ImageSource {
  const dockerfile = "Dockerfile";
  const dockerfileText = contentOf(files, dockerfile);
  const digests = Object.fromEntries([...files].map(([path, content]) => [path, withMode(sha256Hex(content), executable.includes(path))]));
  const bytesOf = (path: string): Buffer => Buffer.from(contentOf(files, path));
  return {
    digest: sourceDigest({ dockerfile, platform: null, files: digests }),
    dockerfile,
    dockerfileText,
    platform: null,
    files: digests,
    entries: async () => lookedInto(digests, bytesOf),
    tar: (signal) => packedContext(digests, bytesOf, signal),
  };
}

/** The same files, to be built for `platform`. */
export function onPlatform(source: ImageSource, platform: string | null): ImageSource {
  const { dockerfile, files } = source;
  return platform === source.platform ? source : { ...source, platform, digest: sourceDigest({ dockerfile, platform, files }) };
}

function contentOf(files: ReadonlyMap<string, string>, path: string): string {
  const content = files.get(path);
  if (content === undefined) throw new Error(`no ${path} among ${[...files.keys()].join(", ")}`);
  return content;
}
