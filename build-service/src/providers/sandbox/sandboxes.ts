import { UserError } from "@agent-env/protocol";
import { probably } from "../../bundle/unknown-names.ts";
import type { SandboxProvider } from "./provider.ts";

/** Where envs can run, by the name that a deployment's record keeps. */
export type Sandbox = { readonly name: string; readonly provider: SandboxProvider };

/** The presets of the configuration, `[sandbox.providers.<name>]`: each a provider's `type`, and its settings. */
export type Presets = {
  /** The configuration's path, for messages. */
  readonly file: string;
  readonly names: readonly string[];
  /** Its references resolved; null for a name that is none. Throws a UserError for a reference that has no value. */
  settings(name: string): Readonly<Record<string, unknown>> | null;
};
export const NO_PRESETS: Presets = { file: "", names: [], settings: () => null };

/** A preset that can't be used, and why. */
export type BrokenPreset = { readonly name: string; readonly error: UserError };

/** Every sandbox that can be named here: built-in providers, those of plugins, and presets of either. */
export type Sandboxes = {
  readonly names: readonly string[];
  /** Null for a name that isn't known. Throws a UserError (exit code 2) for a preset that can't be used. */
  find(name: string): Sandbox | null;
  /** All that can be used, each place once: a preset without settings is its provider under another name. */
  all(): readonly Sandbox[];
  broken(): readonly BrokenPreset[];
  unknown(name: string): UnknownSandbox;
};

/** What to say of a name that isn't known: after it, ` (probably "process")` or nothing, and the names that are, with why a plugin's isn't. */
export type UnknownSandbox = { readonly near: string; readonly known: string };

/**
 * The sandboxes of these providers and presets. `whyNone` is the end of a message about a name that nobody has: why a
 * plugin that has it isn't in effect.
 */
export function sandboxesOf(providers: readonly SandboxProvider[], presets: Presets, whyNone: (name: string) => string): Sandboxes {
  const byType = new Map(providers.map((provider) => [provider.capabilities.name, provider]));
  const names = [...new Set([...byType.keys(), ...presets.names])];

  function find(name: string): Sandbox | null {
    const preset = presets.settings(name);
    if (preset !== null) return ofPreset(name, preset);
    const provider = byType.get(name);
    return provider === undefined ? null : { name, provider };
  }

  function ofPreset(name: string, { type, ...settings }: Readonly<Record<string, unknown>>): Sandbox {
    const refused = (reason: string, why: string, next: string) =>
      new UserError({ what: `${presets.file}: [sandbox.providers.${name}]: ${reason}`, why, next, exitCode: 2 });
    const provider = byType.get(String(type));
    if (provider === undefined) {
      const known = [...byType.keys()];
      const reason = `type: there is no sandbox provider ${JSON.stringify(type)}${probably([String(type)], known)}`;
      throw refused(reason, `known are ${known.join(", ")}${whyNone(String(type))}`, "correct it: agent-env doctor lists the providers");
    }
    if (byType.has(name) && name !== type) {
      throw refused(`a provider has that name, and the preset is of type ${JSON.stringify(type)}`, "one name is one sandbox", "rename it");
    }
    if (Object.keys(settings).length === 0) return { name: String(type), provider };
    const keys = Object.keys(settings).join(", ");
    if (provider.configured === undefined) {
      throw refused(`it sets ${keys}`, `the provider ${type} takes no settings`, "leave nothing but the type");
    }
    const configured = provider.configured(settings);
    if ("problem" in configured) throw refused(configured.problem, `the provider ${type} was given ${keys}`, "correct the preset");
    return { name, provider: configured };
  }

  function looked(): { readonly usable: readonly Sandbox[]; readonly broken: readonly BrokenPreset[] } {
    const usable = new Map<string, Sandbox>();
    const broken: BrokenPreset[] = [];
    for (const name of names) {
      try {
        const sandbox = find(name);
        if (sandbox !== null) usable.set(sandbox.name, sandbox);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        broken.push({ name, error });
      }
    }
    return { usable: [...usable.values()], broken };
  }

  return {
    names,
    find,
    all: () => looked().usable,
    broken: () => looked().broken,
    unknown: (name) => ({ near: probably([name], names), known: `${names.join(", ")}${whyNone(name)}` }),
  };
}
