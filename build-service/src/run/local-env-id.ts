import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { idRootOf } from "../bundle/id-root.ts";
import type { Store } from "../store/store.ts";
import { latestVersion } from "../store/versions.ts";

/**
 * The stored env that `asked` names: an id, or, in a bundle's folder, a name there. Throws a UserError that says what was
 * looked for when neither is stored.
 */
export async function localEnvId(store: Store, asked: string, cwd: string): Promise<string> {
  if ((await latestVersion(store, "env", asked)) > 0) return asked;
  const inBundle = existsSync(join(cwd, "envs", asked)) ? `${idRootOf(realpathSync.native(cwd)).idRoot}/${asked}` : null;
  if (inBundle !== null && (await latestVersion(store, "env", inBundle)) > 0) return inBundle;
  const stored = await store.of(asked).objects.list("records/env/");
  throw new UserError({
    what: `--id: ${asked} is no stored env`,
    why:
      inBundle === null
        ? `${stored.length === 0 ? "no env is stored here yet" : "the store has no env of that id"}`
        : `${inBundle} was never written`,
    next: "run its bundle first, which writes it: agent-env run <bundle>",
  });
}
