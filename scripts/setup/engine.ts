import { spawn } from "node:child_process";
import { existsSync, openSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import Docker from "dockerode";
import { lastLines, which } from "./command.ts";
import { canInstall, type Machine } from "./machine.ts";
import type { Found, Part, Say } from "./part.ts";

const LOG = "/var/log/agent-env-dockerd.log";
const START_BUDGET_MS = 90_000;
const PING_BUDGET_MS = 3_000;
/** Process ids that a daemon trusts at its start: after a kill they may name another process by now. */
const PID_FILES = [
  { path: "/var/run/docker.pid", program: "dockerd" },
  { path: "/var/run/docker/containerd/containerd.pid", program: "containerd" },
];

/** A Docker Engine that answers. */
export const engine: Part = {
  name: "engine",
  tiers: ["docker", "chaos"],
  after: [],

  async look(machine: Machine): Promise<Found> {
    const answer = await pingEngine();
    if (answer.ok) return { state: "ready", detail: answer.detail };
    return withoutEngine(machine, answer.reason, {
      dockerd: which("dockerd") !== null,
      iptables: which("iptables") !== null,
    });
  },

  async mend(_machine: Machine, say: Say) {
    const dockerd = which("dockerd");
    if (dockerd === null) throw new Error("the package docker.io brought no dockerd");
    removeStalePidFiles();
    say(`starting ${dockerd}, log in ${LOG}`);
    const log = openSync(LOG, "a");
    const daemon = spawn(dockerd, [], { detached: true, stdio: ["ignore", log, log], cwd: "/" });
    const ended = new Promise<string>((resolve) => {
      daemon.once("error", (error) => resolve(error.message));
      daemon.once("exit", (code, signal) => resolve(`ended with ${code ?? signal}`));
    });
    daemon.unref();
    await engineAnswers(ended);
  },
};

/** What can be done about an Engine that doesn't answer. */
export function withoutEngine(machine: Machine, reason: string, installed: { dockerd: boolean; iptables: boolean }): Found {
  if (machine.dockerHost !== null) {
    return {
      state: "missing",
      why: `DOCKER_HOST is ${JSON.stringify(machine.dockerHost)}: ${reason}`,
      next: "start that Engine, or unset DOCKER_HOST",
    };
  }
  if (reason.includes("EACCES")) {
    return { state: "missing", why: reason, next: 'let this user use Docker: sudo usermod -aG docker "$USER", then log in again' };
  }
  if (!canInstall(machine)) {
    const next = machine.debian
      ? "sudo npm run setup, or install and start Docker Engine"
      : "install and start Docker Engine or Docker Desktop";
    return { state: "missing", why: reason, next };
  }
  const packages = [...(installed.dockerd ? [] : ["docker.io"]), ...(installed.iptables ? [] : ["iptables"])];
  return { state: "mendable", detail: installed.dockerd ? "not running" : "not installed", packages };
}

/** Whether the Engine answers, with its version, or the reason that it doesn't. */
export async function pingEngine(): Promise<{ ok: true; detail: string } | { ok: false; reason: string }> {
  try {
    const version = await new Docker({ timeout: PING_BUDGET_MS }).version();
    return { ok: true, detail: `Docker Engine ${version.Version} (API ${version.ApiVersion})` };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

async function engineAnswers(ended: Promise<string>): Promise<void> {
  const deadline = Date.now() + START_BUDGET_MS;
  let dead: string | null = null;
  void ended.then((reason) => {
    dead = reason;
  });
  for (;;) {
    const answer = await pingEngine();
    if (answer.ok) return;
    if (dead !== null || Date.now() > deadline) {
      const reason = dead ?? `did not answer within ${START_BUDGET_MS / 1000} s (${answer.reason})`;
      throw new Error(`dockerd ${reason}; the end of ${LOG}:\n${lastLines(readFileSync(LOG, "utf8"), 8)}`);
    }
    await pause(200);
  }
}

function removeStalePidFiles(): void {
  for (const { path, program } of PID_FILES) {
    if (existsSync(path) && programOf(readFileSync(path, "utf8").trim()) !== program) rmSync(path);
  }
}

/** The name of a running process, or null. */
function programOf(pid: string): string | null {
  const path = `/proc/${pid}/comm`;
  return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
}
