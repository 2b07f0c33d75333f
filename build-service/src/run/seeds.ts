import { Buffer } from "node:buffer";
import { CARD_PATH, Card, type EnvironmentRecord, FileRecord, METHOD_NOT_FOUND, UserError } from "@agent-env/protocol";
import { z } from "zod";
import type { Deployment } from "../deploy/deployment.ts";
import { readFileBlob } from "../store/blobs.ts";
import { postJson } from "./post-json.ts";
import type { TaskContext } from "./task-context.ts";

const BASE_TIMEOUT_S = 900;
const SECONDS_PER_GB = 1200;
const LONGEST_TIMEOUT_S = 3600;

const RpcAnswer = z.looseObject({ error: z.looseObject({ code: z.number(), message: z.string() }).nullish() });

/**
 * Replaces a server's data by an `environment` artifact: `data/reset`, then `data/add` with the file as a URI where the
 * provider could place it, else with its bytes (5-run §5.10).
 */
export async function loadSeed(deployment: Deployment, seed: EnvironmentRecord, context: TaskContext): Promise<void> {
  const file = FileRecord.parse(await context.entity("artifact", seed.file_artifact_ref.id, seed.file_artifact_ref.version));
  const bytes = await readFileBlob(context.store, file);

  const url = dataPlaneUrl(deployment, seed.environment_name, context);
  const path = `/data/${file.filename}`;
  const placed = await deployment.placeFile(seed.environment_name, path, bytes);
  const content = placed ? { uri: `file://${path}` } : { bytes: Buffer.from(bytes).toString("base64") };
  const part = { kind: "file", file: { ...content, name: file.filename, mimeType: file.content_type } };

  const timeoutMs = 1000 * Math.min(LONGEST_TIMEOUT_S, BASE_TIMEOUT_S + (SECONDS_PER_GB * file.size) / 1e9);
  const sending = { timeoutMs, signal: context.signal, headers: await deployment.authorization("orchestrator") };
  const about = { server: JSON.stringify(seed.environment_name), artifact: `${seed.id} (${file.filename})`, url, sending };
  await call("data/reset", {}, about);
  await call("data/add", { parts: [part] }, about);
}

type About = {
  readonly server: string;
  readonly artifact: string;
  readonly url: string;
  readonly sending: Parameters<typeof postJson>[2];
};

async function call(method: string, params: unknown, { server, artifact, url, sending }: About): Promise<void> {
  const answer = await postJson(url, { jsonrpc: "2.0", id: 1, method, params }, sending);
  const { error } = RpcAnswer.parse(answer);
  if (error === null || error === undefined) return;
  const why = `${url}: ${method} was answered with an error: ${error.message} (${error.code})`;
  if (error.code === METHOD_NOT_FOUND) {
    const next = "leave it out, or give the env data: its server answers data/reset and data/add";
    throw new UserError({ what: `${artifact}: ${server} holds no data, and so takes no seed`, why, next });
  }
  const next = `look at the form of ${artifact}, and at the server's log`;
  throw new UserError({ what: `${artifact}: ${server} could not take this data`, why, next });
}

/** Where the server named `name` takes its data: the card of that name among the environment's children (3-wire §card). */
function dataPlaneUrl(deployment: Deployment, name: string, context: TaskContext): string {
  const { environment_card: card, environment_card_url: cardUrl } = deployment.record;
  if (card === null || cardUrl === null) throw new Error(`${deployment.record.deployment_id}: deployed without a card`);
  const children = Array.isArray(card.children_environments) ? card.children_environments : [card];
  const cards = children.flatMap((child) => Card.safeParse(child).data ?? []);
  const found = cards.find((child) => child.name === name);
  if (found === undefined) {
    throw new UserError({
      what: `${context.task}: step ${JSON.stringify(context.stepId)}: no server ${JSON.stringify(name)} takes data here`,
      why: `the environment's servers with a card are: ${cards.map((child) => child.name).join(", ") || "none"}`,
      next: "name the data's environment_name as the server's card does",
    });
  }
  return `${cardUrl.slice(0, -CARD_PATH.length)}${found.url}`;
}
