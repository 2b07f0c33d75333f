import { spawn } from "node:child_process";
import type Docker from "dockerode";
import { lastLines } from "./command.ts";

const PULL_BUDGET_MS = 300_000;
/** A registry that can't be reached mostly says so at once; one that hangs is given this time to begin. */
const PULL_START_BUDGET_MS = 15_000;
const BUILD_BUDGET_MS = 300_000;

/** The labels of an image that the Engine holds, or null. */
export async function labelsOf(docker: Docker, tag: string): Promise<Readonly<Record<string, string>> | null> {
  try {
    return (await docker.getImage(tag).inspect()).Config.Labels ?? {};
  } catch (error) {
    if (error instanceof Error && "statusCode" in error && error.statusCode === 404) return null;
    throw error;
  }
}

/** Pulls an image, or says why it can't be had. */
export async function pullImage(docker: Docker, tag: string): Promise<{ ok: true } | { ok: false; reason: string }> {
  const abort = new AbortController();
  const start = setTimeout(() => abort.abort(), PULL_START_BUDGET_MS);
  const whole = setTimeout(() => abort.abort(), PULL_BUDGET_MS);
  try {
    const stream = await docker.pull(tag, { abortSignal: abort.signal });
    clearTimeout(start);
    await outcome(docker, stream);
    return { ok: true };
  } catch (error) {
    if (abort.signal.aborted) return { ok: false, reason: "the registry doesn't answer" };
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(start);
    clearTimeout(whole);
  }
}

/** Builds a context folder. Throws with the end of the build's output. */
export async function buildImage(docker: Docker, request: { tag: string; context: string; labels: Record<string, string> }): Promise<void> {
  const tar = spawn("tar", ["-C", request.context, "-cf", "-", "."], { stdio: ["ignore", "pipe", "inherit"] });
  const stream = await docker.buildImage(tar.stdout, {
    t: request.tag,
    labels: request.labels,
    rm: true,
    forcerm: true,
    abortSignal: AbortSignal.timeout(BUILD_BUDGET_MS),
  });
  await outcome(docker, stream);
}

/** Waits for the end of a stream of progress messages. An error is one of the messages, not an error of the stream. */
async function outcome(docker: Docker, stream: NodeJS.ReadableStream): Promise<void> {
  let log = "";
  let failure: string | null = null;
  await new Promise<void>((resolve, reject) => {
    const progress = (message: { stream?: unknown; error?: unknown }) => {
      if (typeof message.stream === "string") log += message.stream;
      if (typeof message.error === "string") failure = message.error;
    };
    docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()), progress);
  });
  if (failure !== null) throw new Error(`${failure}\n${lastLines(log, 20)}`);
}
