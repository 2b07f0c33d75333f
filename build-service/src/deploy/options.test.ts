import { expect, test } from "vitest";
import { ENV_PROVIDERS, SANDBOXES } from "../providers/capabilities.ts";
import { refusedOptions } from "./options.ts";

const NONE = { cpu: null, memoryMb: null, gatewayMode: "performance", auth: "open" } as const;
const ALL = { cpu: 1, memoryMb: 512, gatewayMode: "consistent", auth: "token" } as const;

test("options are refused where they would be dropped, and only there", () => {
  const messages = (...args: Parameters<typeof refusedOptions>) => refusedOptions(...args).map(({ message }) => message);
  expect(messages(NONE, SANDBOXES.process, ENV_PROVIDERS.server)).toEqual([]);
  expect(messages(ALL, SANDBOXES.local, ENV_PROVIDERS.gateway)).toEqual([]);
  expect(messages(ALL, SANDBOXES.process, ENV_PROVIDERS.gateway)).toEqual([
    "the sandbox process limits nothing, and cpu is set: leave it out",
    "the sandbox process limits nothing, and memory_mb is set: leave it out",
  ]);
  expect(messages(ALL, SANDBOXES.local, ENV_PROVIDERS.server)).toEqual([
    "the env provider server doesn't take gateway_mode: leave it out",
    "the env provider server has no gateway that could ask for tokens: leave out --auth and [gateway] auth",
  ]);
});
