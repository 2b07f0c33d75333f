import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { certificatesBeyond, certificatesIn, machineCertificates } from "../certificates.ts";
import { mustRun } from "../command.ts";
import type { Machine } from "../machine.ts";
import type { Say } from "../part.ts";
import { type PackageSettings, packageSettings } from "../settings.ts";
import type { StandIn } from "./stand-in.ts";

const RELEASE = "bookworm";
const DEBIAN_CERTIFICATES = "/usr/share/ca-certificates";
const BUNDLE = "/etc/ssl/certs/ca-certificates.crt";
/** Not needed in a container, and what the official slim image leaves out too. */
const LEFT_OUT = [
  "usr/share/doc/*",
  "usr/share/man/*",
  "usr/share/info/*",
  "usr/share/locale/*",
  "var/cache/apt/*",
  "var/lib/apt/lists/*",
  "var/log/*",
];

/** What a stand-in takes over from this machine, so that a build in it reaches packages as the machine does. */
export type MachineSettings = {
  readonly packages: PackageSettings;
  /** Certificates beyond Debian's own. */
  readonly certificates: readonly string[];
};

/** Reads what stand-ins take over from this machine. */
export async function machineSettings(): Promise<MachineSettings> {
  return { packages: await packageSettings(), certificates: certificatesBeyond(machineCertificates(), debianCertificates()) };
}

export const debian: StandIn = {
  tag: "debian:bookworm-slim",
  folder: "debian",
  base: null,
  ingredients: (machine, settings) => [machine.arch, settings],

  async prepare({ context, machine, settings, say }) {
    const root = await rootArchive(machine, settings.packages.mirror, say);
    linkSync(root, join(context, "root.tar"));
    for (const [path, text] of settingsFiles(settings)) {
      const target = join(context, "settings", path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
    if (settings.certificates.length > 0) appendFileSync(join(context, "Dockerfile"), `ENV ${certificateVariables()}\n`);
  },
};

/** The files that carry a machine's settings into an image, by their path in it. */
export function settingsFiles({ packages, certificates }: MachineSettings): [path: string, text: string][] {
  const aptSources = [
    `deb ${packages.mirror} ${RELEASE} main`,
    `deb ${packages.mirror} ${RELEASE}-updates main`,
    `deb ${packages.securityMirror} ${RELEASE}-security main`,
  ];
  const aptOptions = [
    'Acquire::Languages "none";',
    'Acquire::GzipIndexes "true";',
    'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };',
    ...(packages.aptProxy === null ? [] : [`Acquire::http::Proxy "${packages.aptProxy}";`]),
  ];
  const leftOut = ["path-exclude /usr/share/doc/*", "path-exclude /usr/share/man/*", "path-exclude /usr/share/locale/*"];
  return [
    ["etc/apt/sources.list", lines(aptSources)],
    ["etc/apt/apt.conf.d/90stand-in", lines(aptOptions)],
    ["etc/dpkg/dpkg.cfg.d/90stand-in", lines(leftOut)],
    ...(packages.pipIndex === null ? [] : [file("etc/pip.conf", ["[global]", `index-url = ${packages.pipIndex}`])]),
    ...(packages.npmRegistry === null ? [] : [file("usr/local/etc/npmrc", [`registry=${packages.npmRegistry}`])]),
    ...certificates.map((certificate, index) => file(`usr/local/share/ca-certificates/machine-${index}.crt`, [certificate])),
  ];
}

/** Programs that bring their own certificates are pointed at the system's. */
function certificateVariables(): string {
  return ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE"].map((name) => `${name}=${BUNDLE}`).join(" ");
}

/** The archive of a minimal Debian system, made once and kept in the cache folder. */
async function rootArchive(machine: Machine, mirror: string, say: Say): Promise<string> {
  const folder = join(machine.cacheFolder, "stand-ins");
  const archive = join(folder, `${RELEASE}-${machine.arch}.tar`);
  if (existsSync(archive)) return archive;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, "root-"));
  try {
    say(`debootstrap ${RELEASE} from ${mirror}`);
    const root = join(work, "root");
    await mustRun("debootstrap", ["--variant=minbase", "--include=ca-certificates", RELEASE, root, mirror], { budgetSeconds: 600 });
    const excludes = LEFT_OUT.map((pattern) => `--exclude=./${pattern}`);
    await mustRun("tar", ["-C", root, ...excludes, "-cf", join(work, "root.tar"), "."], { budgetSeconds: 120 });
    renameSync(join(work, "root.tar"), archive);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return archive;
}

function debianCertificates(): string[] {
  if (!existsSync(DEBIAN_CERTIFICATES)) return [];
  return readdirSync(DEBIAN_CERTIFICATES, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".crt"))
    .flatMap((name) => certificatesIn(readFileSync(join(DEBIAN_CERTIFICATES, name), "utf8")));
}

function file(path: string, content: readonly string[]): [path: string, text: string] {
  return [path, lines(content)];
}

function lines(content: readonly string[]): string {
  return `${content.join("\n")}\n`;
}
