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

/** What can be built for: the systems and architectures that Docker images are of. */
const SYSTEMS = new Set(["linux", "windows", "darwin", "freebsd"]);
const NAMES = new Set(["amd64", "arm64", "386", "arm/v5", "arm/v6", "arm/v7", "ppc64le", "s390x", "riscv64", "mips64le", "loong64"]);

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
  const [system = "", architecture = "", variant] = parts.length === 1 ? ["linux", ...parts] : parts;
  const named = ARCHITECTURES.get(architecture) ?? architecture;
  const name = named === "arm" ? `arm/${versionOf(variant ?? "v7")}` : named;
  const isKnown = SYSTEMS.has(system) && NAMES.has(name) && parts.length <= 3 && (variant === undefined || /^v?[0-9]+$/.test(variant));
  if (isKnown) return `${system}/${name}`;
  throw new UserError({
    what: `${from}: ${JSON.stringify(text)} names no platform`,
    why: "a platform is a system and an architecture, with a variant for 32-bit arm",
    next: "linux/amd64, linux/arm64, linux/386 and linux/arm/v7 are some",
    exitCode: 2,
  });
}

const versionOf = (variant: string): string => (variant.startsWith("v") ? variant : `v${variant}`);
