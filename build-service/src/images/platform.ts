import { UserError } from "@agent-env/protocol";

/** Other names of the same architectures (4-bundle §10.7). */
const ARCHITECTURES = new Map(
  Object.entries({
    x86_64: "amd64",
    "x86-64": "amd64",
    aarch64: "arm64",
    i386: "386",
    i686: "386",
    armhf: "arm/v7",
    armel: "arm/v6",
    armv7l: "arm/v7",
    armv6l: "arm/v6",
  }),
);

/** The platform of this machine, as its processes have it. */
export function machinePlatform(machine: { readonly platform: string; readonly arch: string } = process): string {
  const { platform, arch } = machine;
  return platformOf(`${platform}/${{ x64: "amd64", ia32: "386" }[arch] ?? arch}`, "this machine");
}

/**
 * A platform as records and build rows name it: `linux/amd64`, `linux/arm/v7`. One without a system is Linux's. A variant
 * counts only for 32-bit arm, whose plain name is v7. Throws a UserError (exit code 2) that starts with `from` for a text that
 * names none.
 */
export function platformOf(text: string, from: string): string {
  const parts = text.trim().toLowerCase().split("/");
  const [system, architecture, variant] = parts.length === 1 ? ["linux", ...parts] : parts;
  if (parts.length > 3 || !architecture || !system || parts.some((part) => !/^[a-z0-9_-]+$/.test(part))) {
    throw new UserError({
      what: `${from}: ${JSON.stringify(text)} names no platform`,
      why: "a platform is a system and an architecture, with a variant for 32-bit arm",
      next: "linux/amd64, linux/arm64, linux/386 and linux/arm/v7 are some",
      exitCode: 2,
    });
  }
  const name = ARCHITECTURES.get(architecture) ?? architecture;
  if (name !== "arm") return `${system}/${name}`;
  return `${system}/arm/${variant === undefined ? "v7" : variant.startsWith("v") ? variant : `v${variant}`}`;
}
