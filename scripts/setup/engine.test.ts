import { describe, expect, test } from "vitest";
import { withoutEngine } from "./engine.ts";
import type { Machine } from "./machine.ts";

const DEBIAN: Machine = { platform: "linux", arch: "x64", debian: true, root: true, dockerHost: null, cacheFolder: "/cache" };
const REFUSED = "connect ENOENT /var/run/docker.sock";
const NOTHING = { dockerd: false, iptables: false };

describe("without an Engine", () => {
  test("Debian's packages are installed, as root", () => {
    expect(withoutEngine(DEBIAN, REFUSED, NOTHING)).toEqual({
      state: "mendable",
      detail: "not installed",
      packages: ["docker.io", "iptables"],
    });
  });

  test("only what is missing is installed", () => {
    const found = withoutEngine(DEBIAN, REFUSED, { dockerd: true, iptables: true });
    expect(found).toEqual({ state: "mendable", detail: "not running", packages: [] });
  });

  test("another user is told to be root", () => {
    expect(withoutEngine({ ...DEBIAN, root: false }, REFUSED, NOTHING)).toEqual({
      state: "missing",
      why: REFUSED,
      next: "sudo npm run setup, or install and start Docker Engine",
    });
  });

  test("another system is told to install one", () => {
    expect(withoutEngine({ ...DEBIAN, platform: "darwin", debian: false }, REFUSED, NOTHING)).toEqual({
      state: "missing",
      why: REFUSED,
      next: "install and start Docker Engine or Docker Desktop",
    });
  });

  test("one that DOCKER_HOST names is not replaced by another", () => {
    expect(withoutEngine({ ...DEBIAN, dockerHost: "tcp://elsewhere:2375" }, "connect ECONNREFUSED", NOTHING)).toEqual({
      state: "missing",
      why: 'DOCKER_HOST is "tcp://elsewhere:2375": connect ECONNREFUSED',
      next: "start that Engine, or unset DOCKER_HOST",
    });
  });

  test("one that this user may not use is not replaced by another", () => {
    expect(withoutEngine(DEBIAN, "connect EACCES /var/run/docker.sock", NOTHING)).toEqual({
      state: "missing",
      why: "connect EACCES /var/run/docker.sock",
      next: 'let this user use Docker: sudo usermod -aG docker "$USER", then log in again',
    });
  });
});
