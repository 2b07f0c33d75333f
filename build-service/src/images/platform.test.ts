import { expect, test } from "vitest";
import { machinePlatform, platformOf } from "./platform.ts";

test.each([
  ["linux/amd64", "linux/amd64"],
  ["amd64", "linux/amd64"],
  ["linux/x86_64", "linux/amd64"],
  ["Linux/AMD64", "linux/amd64"],
  ["linux/amd64/v2", "linux/amd64"],
  ["linux/aarch64", "linux/arm64"],
  ["linux/arm64/v8", "linux/arm64"],
  ["linux/i386", "linux/386"],
  ["linux/arm/v6", "linux/arm/v6"],
  ["linux/arm/7", "linux/arm/v7"],
  ["linux/arm", "linux/arm/v7"],
  ["armhf", "linux/arm/v7"],
  ["armel", "linux/arm/v6"],
  ["windows/amd64", "windows/amd64"],
])("the platform %s is %s", (text, name) => {
  expect(platformOf(text, "--platform")).toBe(name);
});

test.each([
  [{ platform: "linux", arch: "x64" }, "linux/amd64"],
  [{ platform: "darwin", arch: "arm64" }, "darwin/arm64"],
  [{ platform: "linux", arch: "ia32" }, "linux/386"],
  [{ platform: "linux", arch: "arm" }, "linux/arm/v7"],
])("a machine that Node calls %j is %s", (machine, name) => {
  expect(machinePlatform(machine)).toBe(name);
});

test.each([
  "",
  "linux/",
  "/amd64",
  "a/b/c/d",
  "linux/amd 64",
  "zip",
  "linux/constructor",
  "amd64/linux",
  "moon/amd64",
  "linux/arm/v9",
  "linux/amd64/x",
])("%j is refused", (text) => {
  let thrown: unknown;
  try {
    platformOf(text, "[build] platform");
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({
    message: `[build] platform: ${JSON.stringify(text)} names no platform`,
    why: "a platform is a system and an architecture, with a variant for 32-bit arm",
    next: "linux/amd64, linux/arm64, linux/386 and linux/arm/v7 are some",
    exitCode: 2,
  });
});
