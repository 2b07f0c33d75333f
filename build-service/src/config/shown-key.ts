/** A key as it is written in the file: `[build] concurrency`, `[plugins."@acme/envs"] names`. */
export function shownKey(path: readonly string[]): string {
  const [section, ...rest] = path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part)));
  if (rest.length < 2) return [`[${section ?? ""}]`, ...rest].join(" ");
  return `[${[section, ...rest.slice(0, -1)].join(".")}] ${rest.at(-1)}`;
}
