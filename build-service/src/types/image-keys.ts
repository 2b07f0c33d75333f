import type { BundleType, TomlRef } from "./type.ts";

/**
 * The keys that take an image (4-bundle §4.2), in toml order: any that a type declares as a reference to a `docker_image`
 * at the top of its toml. A plugin's type gets the same rule.
 */
export function imageKeys(type: Pick<BundleType, "tomlKeys" | "tomlRefs">): string[] {
  const keys = new Set(type.tomlRefs.filter(isImageRef).map(({ path }) => path));
  return Object.keys(type.tomlKeys).filter((key) => keys.has(key));
}

function isImageRef({ path, kind, types }: TomlRef): boolean {
  return kind === "artifact" && types?.length === 1 && types[0] === "docker_image" && /^[^.[\]]+$/.test(path);
}

/** The Dockerfile that is built when an image key is left out; null for a key that stands for no file. */
export function defaultDockerfile(imageKey: string): string | null {
  if (imageKey === "image") return "Dockerfile";
  const role = /^(.+)_image$/.exec(imageKey)?.[1];
  return role === undefined ? null : `Dockerfile.${role}`;
}
