import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Where `agent-env gateway dev` listens unless it is told otherwise (`wrangler.toml`, [dev]). */
export const EDGE_PORT = 8787;

const DEFAULT_URL = `http://localhost:${EDGE_PORT}`;

const Edge = z.object({ url: z.string(), pid: z.int() });

/**
 * The edge gateway that serves this state folder: the one that `gateway dev` has noted there, else the default address. A note
 * of a process that is gone says nothing.
 */
export function edgeUrlOf(stateDir: string): string {
  try {
    const { url, pid } = Edge.parse(JSON.parse(readFileSync(notePath(stateDir), "utf8")));
    return isAlive(pid) ? url : DEFAULT_URL;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return DEFAULT_URL;
    throw error;
  }
}

/** Notes where this process's edge gateway listens. Gives a function that takes the note away. */
export function noteEdge(stateDir: string, url: string): () => void {
  writeFileSync(notePath(stateDir), JSON.stringify({ url, pid: process.pid }));
  return () => rmSync(notePath(stateDir), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled, and lives.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

const notePath = (stateDir: string): string => join(stateDir, "edge.json");
