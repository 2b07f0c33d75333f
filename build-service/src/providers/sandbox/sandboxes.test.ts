import { UserError } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { processProvider } from "./process/provider.ts";
import type { SandboxProvider } from "./provider.ts";
import { SANDBOX_PROVIDERS } from "./registry.ts";
import { type Sandboxes, sandboxesOf } from "./sandboxes.ts";

/** A provider that takes a region. */
function fly(region: string | null): SandboxProvider {
  return {
    ...processProvider,
    capabilities: { ...processProvider.capabilities, name: "fly", runs: `machines in ${region ?? "no region"}` },
    configured: ({ region, ...others }) =>
      typeof region === "string" && Object.keys(others).length === 0 ? fly(region) : { problem: "region: is missing" },
  };
}

function withPresets(presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Sandboxes {
  const settings = (name: string) => presets[name] ?? null;
  return sandboxesOf([...SANDBOX_PROVIDERS, fly(null)], { file: "config.toml", names: Object.keys(presets), settings }, (name) =>
    name === "rocket" ? '; the plugin "p" has one, and failed to load: no fuel' : "",
  );
}

const shown = ({ name, provider }: { readonly name: string; readonly provider: SandboxProvider }) =>
  `${name}: ${provider.capabilities.runs}`;

function refusal(look: () => unknown): string {
  try {
    look();
  } catch (error) {
    if (error instanceof UserError) return [error.message, error.why, error.next, error.exitCode].join(" | ");
    throw error;
  }
  throw new Error("it wasn't refused");
}

describe("a preset, [sandbox.providers.<name>]", () => {
  test("without settings is its provider under another name", () => {
    const sandboxes = withPresets({ mine: { type: "process" } });
    expect(sandboxes.find("mine")).toEqual({ name: "process", provider: processProvider });
    expect(sandboxes.all().map(shown)).toEqual(["local: containers", "process: processes of this machine", "fly: machines in no region"]);
  });

  test("with settings is a sandbox of its own, beside its provider", () => {
    const sandboxes = withPresets({ eu: { type: "fly", region: "fra" } });
    expect(sandboxes.names).toEqual(["local", "process", "fly", "eu"]);
    expect(sandboxes.all().map(shown).slice(2)).toEqual(["fly: machines in no region", "eu: machines in fra"]);
  });

  test("of its provider's own name is what that name means", () => {
    const sandboxes = withPresets({ fly: { type: "fly", region: "fra" } });
    expect(sandboxes.all().map(shown).slice(2)).toEqual(["fly: machines in fra"]);
  });

  test.each<[string, Readonly<Record<string, Readonly<Record<string, unknown>>>>, string]>([
    [
      "of a provider that nobody has",
      { x: { type: "rocket" } },
      'config.toml: [sandbox.providers.x]: type: there is no sandbox provider "rocket" | known are local, process, fly; the plugin "p" has one, and failed to load: no fuel | correct it: agent-env doctor lists the providers | 2',
    ],
    [
      "of a provider's name, almost",
      { x: { type: "proces" } },
      'config.toml: [sandbox.providers.x]: type: there is no sandbox provider "proces" (probably "process") | known are local, process, fly | correct it: agent-env doctor lists the providers | 2',
    ],
    [
      "with settings for a provider that takes none",
      { x: { type: "local", region: "fra", size: 1 } },
      "config.toml: [sandbox.providers.x]: it sets region, size | the provider local takes no settings | leave nothing but the type | 2",
    ],
    [
      "with settings that the provider doesn't take",
      { x: { type: "fly", zone: "a" } },
      "config.toml: [sandbox.providers.x]: region: is missing | the provider fly was given zone | correct the preset | 2",
    ],
    [
      "of another provider's name",
      { local: { type: "process" } },
      'config.toml: [sandbox.providers.local]: a provider has that name, and the preset is of type "process" | one name is one sandbox | rename it | 2',
    ],
  ])("%s is refused when it is asked for, and nothing else is", (_, presets, expected) => {
    const sandboxes = withPresets(presets);
    const [name = ""] = Object.keys(presets);
    expect(refusal(() => sandboxes.find(name))).toBe(expected);
    expect(sandboxes.broken().map((one) => one.name)).toEqual([name]);
    expect(sandboxes.all().map((one) => one.name)).toEqual(["local", "process", "fly"].filter((one) => one !== name));
  });
});
