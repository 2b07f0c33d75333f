import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { chromiumPath } from "../../check-site/browser.ts";
import type { VerifierSettings } from "../../config/settings.ts";
import { engineProblem } from "../../images/engine.ts";
import { standIns } from "../../images/stand-ins.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import { verifierProblem } from "../../run/verifiers/language.ts";
import type { AddCommand } from "../cli.ts";
import { type Io, printDocument } from "../io.ts";
import { sandboxFindings } from "../sandbox-findings.ts";
import { storeFindings } from "../store-findings.ts";

/** One thing that agent-env needs or can use, and what mends it where it is missing. */
export type Finding = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly next: string | null;
  readonly required: boolean;
};

/** Says what each part needs, found or missing, with the command that mends it. Exit code 2 when a required one is missing. */
export const doctorCommand: AddCommand = (parent, io, end) => {
  parent
    .command("doctor")
    .description("say what this machine has and lacks, and what mends it")
    .action(async (options: { json?: boolean }) => {
      const findings = [
        nodeFinding(),
        stateFinding(io),
        ...(await storeFindings(io.settings())),
        ...(await sandboxFindings(io.settings().sandbox().default, await io.loadedPlugins())),
        ...(await standInFindings()),
        pythonFinding(io.settings().verifiers()),
        browserFinding(io),
      ];
      const lines = findings.map(
        ({ name, ok, detail, next }) =>
          `${ok ? "ok      " : "missing "}  ${name}: ${detail}${next === null ? "" : `\n            Next: ${next}`}`,
      );
      printDocument(io, options, { findings }, lines.join("\n"));
      end(findings.some(({ ok, required }) => required && !ok) ? 2 : 0);
    });
};

function nodeFinding(): Finding {
  return { name: "Node", ok: true, detail: `${process.versions.node} at ${process.execPath}`, next: null, required: true };
}

function stateFinding(io: Io): Finding {
  const stateDir = stateDirOf(io.env);
  let folder = stateDir;
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    return {
      name: "state folder",
      ok: true,
      detail: `${stateDir}${folder === stateDir ? "" : ", made at the first write"}`,
      next: null,
      required: true,
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      name: "state folder",
      ok: false,
      detail: `${stateDir}: ${why}`,
      next: "set AGENT_ENV_STATE_DIR to a folder that you can write",
      required: true,
    };
  }
}

/** Base images that stand for official ones which could not be pulled here. */
async function standInFindings(): Promise<Finding[]> {
  if ((await engineProblem()) !== null) return [];
  const tags = await standIns();
  if (tags.length === 0) return [];
  return [
    { name: "base images", ok: true, detail: `local stand-ins, not the official ones: ${tags.join(", ")}`, next: null, required: false },
  ];
}

function pythonFinding({ python }: VerifierSettings): Finding {
  const problem = verifierProblem("verify.py", python);
  return {
    name: "verifiers in Python",
    ok: problem === null,
    detail: problem === null ? `${python} is there` : `${python} isn't on PATH`,
    next: problem === null ? null : "install Python 3",
    required: false,
  };
}

function browserFinding({ env }: Io): Finding {
  const path = chromiumPath(env);
  const isThere = path !== null && existsSync(path);
  return {
    name: "browser for check-site",
    ok: isThere,
    detail: path === null ? "no Chromium on PATH" : isThere ? path : `AGENT_ENV_CHROMIUM is ${JSON.stringify(path)}, and nothing is there`,
    next: isThere ? null : "install Chromium (on Debian: apt-get install chromium), or name one in AGENT_ENV_CHROMIUM",
    required: false,
  };
}
