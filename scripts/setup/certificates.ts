import { existsSync, readFileSync } from "node:fs";

const BUNDLE = "/etc/ssl/certs/ca-certificates.crt";
const VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** The certificates that this machine trusts: its bundle's, and those of the files that its variables name. */
export function machineCertificates(env: NodeJS.ProcessEnv = process.env): string[] {
  const files = new Set([BUNDLE, ...VARIABLES.flatMap((name) => env[name] ?? [])]);
  return [...files].filter((file) => existsSync(file)).flatMap((file) => certificatesIn(readFileSync(file, "utf8")));
}

/** The certificates of a PEM text, one text each. Comments between them are dropped. */
export function certificatesIn(pem: string): string[] {
  return [...pem.matchAll(CERTIFICATE)].map(([certificate]) => certificate.replaceAll("\r\n", "\n"));
}

/** What of `certificates` is not in `known`, each once. */
export function certificatesBeyond(certificates: readonly string[], known: readonly string[]): string[] {
  const seen = new Set(known);
  return certificates.filter((certificate) => {
    if (seen.has(certificate)) return false;
    seen.add(certificate);
    return true;
  });
}
