import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Program, startProgram } from "./program.ts";

/** workerd's own path, as Miniflare finds it. */
function workerdPath(): string {
  const path: unknown = createRequire(createRequire(import.meta.url).resolve("miniflare"))("workerd").default;
  if (typeof path !== "string") throw new Error("the package workerd names no program");
  return path;
}

/** A Worker of this folder in raw workerd, with its object's databases below `folder`, and texts as bindings. */
export async function startWorker(what: {
  readonly name: string;
  readonly entry: "edge-entry.js" | "object-hop.js";
  readonly folder: string;
  readonly port: number;
  readonly texts: Readonly<Record<string, string>>;
}): Promise<Program> {
  const { name, entry, port, texts } = what;
  const folder = join(what.folder, name);
  mkdirSync(join(folder, "state"), { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    outfile: join(folder, "worker.mjs"),
  });
  writeFileSync(join(folder, "workerd.capnp"), configOf(folder, port, texts));
  const argv = [workerdPath(), "serve", join(folder, "workerd.capnp")];
  return startProgram({ name, folder, argv, readyUrl: `http://127.0.0.1:${port}/health` });
}

function configOf(folder: string, port: number, texts: Readonly<Record<string, string>>): string {
  // Cap'n Proto's texts are C's: of JSON's escapes it knows those of quotes, backslashes and line ends
  const bindings = Object.entries(texts).map(([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)}),`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "worker", worker = .worker),
    (name = "internet", network = (allow = ["public", "private", "local"], tlsOptions = (trustBrowserCas = true))),
    (name = "state", disk = (path = ${JSON.stringify(join(folder, "state"))}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "worker")],
);
const worker :Workerd.Worker = (
  compatibilityDate = "2026-11-17",
  compatibilityFlags = ["request_signal_passthrough"],
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  bindings = [
    ${bindings.join("\n    ")}
    (name = "DEPLOYMENT", durableObjectNamespace = "DeploymentObject"),
  ],
  durableObjectNamespaces = [(className = "DeploymentObject", uniqueKey = "agent-env.deployment", enableSql = true)],
  durableObjectStorage = (localDisk = "state"),
);
`;
}
