import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "@agent-env/protocol";
import type { DeployContext } from "../../../deploy/deployment.ts";
import { storedEntries } from "../../../images/stored-context.ts";
import { gatewayBundle } from "../../../infra/gateway-bundle.ts";
import { sdkBaseFiles } from "../../../infra/sdk-files.ts";
import type { Service } from "../provider.ts";
import { planImage } from "./image-plan.ts";
import { type LaidOut, layOut } from "./layout.ts";
import { type Machine, thisMachine } from "./machine.ts";

/**
 * Writes what a service runs into its own new folder: its image's stored context, or the gateway where it has no image. A
 * provider of `image: "source"` starts `argv` there; `sandbox` is its name, for messages. Throws a UserError for an image
 * that can't be run without being built, and for one whose context the store has lost.
 */
export async function layOutService(
  service: Service,
  { folder, sandbox, context }: { readonly folder: string; readonly sandbox: string; readonly context: DeployContext },
): Promise<LaidOut> {
  const { image } = service;
  const machine = await thisMachine();
  if (image === null) return layOutGateway(folder, machine);
  const plan = await planImage(
    { dockerfile: image.dockerfile_path, entries: () => storedEntries(context.store, image) },
    machine,
    sdkBaseFiles,
  );
  const [first] = plan.problems;
  if (first !== undefined) {
    throw new UserError({
      what: `${image.id} v${image.version}: ${first}`,
      why: plan.problems.length === 1 ? `sandbox ${sandbox} runs an image without building it` : plan.problems.slice(1).join("\n"),
      next: "--sandbox local, which builds it with Docker",
    });
  }
  for (const note of plan.notes) context.emit({ kind: "log", entry: service.name, level: "info", message: note });
  return layOut(plan, folder, machine);
}

async function layOutGateway(own: string, machine: Machine): Promise<LaidOut> {
  const root = join(own, "root");
  await mkdir(root, { recursive: true });
  const program = join(root, "gateway.mjs");
  await writeFile(program, await gatewayBundle());
  // What it must not lose when it is started again.
  const state = join(root, "gateway.sqlite");
  const environment = { PATH: machine.path, HOME: root, GATEWAY_STATE_FILE: state };
  return { root, argv: [machine.node, program], workingFolder: root, environment };
}

/**
 * The environment of a service that was laid out, on a port of loopback: the image's variables, the deployment's over them,
 * and over both what a process needs to be told otherwise (5-run §5.6).
 */
export function serviceEnvironment(laidOut: LaidOut, env: Readonly<Record<string, string>>, port: number): Record<string, string> {
  const database = env["DATABASE_URL"]?.replace(/^sqlite:\/\/\/(?=\/)/, `sqlite:///${laidOut.root}`);
  return {
    ...laidOut.environment,
    ...env,
    ...(database === undefined ? {} : { DATABASE_URL: database }),
    HOST: "127.0.0.1",
    PORT: String(port),
    MCP_HOST: "127.0.0.1",
    MCP_PORT: String(port),
    PATH: laidOut.environment["PATH"] ?? "",
    HOME: laidOut.root,
  };
}
