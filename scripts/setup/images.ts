import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import Docker from "dockerode";
import { which } from "./command.ts";
import { buildImage, labelsOf, pullImage } from "./docker.ts";
import { engine } from "./engine.ts";
import { canInstall, type Machine } from "./machine.ts";
import type { Found, Part, Say } from "./part.ts";
import { debian, type MachineSettings, machineSettings } from "./stand-ins/debian.ts";
import { nginx, node, postgres, python } from "./stand-ins/others.ts";
import { recipeOf, type StandIn, sourceFolder } from "./stand-ins/stand-in.ts";

const STAND_IN = "agent-env.stand-in";
const RECIPE = "agent-env.stand-in.recipe";
/** A stand-in comes after the one it is built from. */
const STAND_INS: readonly StandIn[] = [debian, node, python, nginx, postgres];

/** The public base images that the tests and examples build on, or local stand-ins where those can't be pulled. */
export const images: Part = {
  name: "images",
  tiers: ["docker", "chaos"],
  after: [engine],

  async look(machine: Machine): Promise<Found> {
    const engineFound = await engine.look(machine);
    if (engineFound.state === "missing") return { state: "missing", why: "no Docker Engine to hold them", next: engineFound.next };
    const packages = canInstall(machine) && which("debootstrap") === null ? ["debootstrap"] : [];
    if (engineFound.state === "mendable") return { state: "mendable", detail: "the Engine is not running", packages };
    const absent = await absentImages(machine);
    if (absent.length > 0) return { state: "mendable", detail: `to be made: ${absent.map(({ tag }) => tag).join(" ")}`, packages };
    return { state: "ready", detail: await presentLine() };
  },

  async mend(machine: Machine, say: Say) {
    const docker = new Docker();
    const settings = await machineSettings();
    let reachable = true;
    for (const standIn of await absentImages(machine)) {
      const labels = await labelsOf(docker, standIn.tag);
      if (reachable && labels?.[STAND_IN] === undefined) {
        const pulled = await pullImage(docker, standIn.tag);
        if (pulled.ok) {
          say(`pulled ${standIn.tag}`);
          continue;
        }
        reachable = false;
        say(`${standIn.tag} can't be pulled (${pulled.reason})`);
        if (!canInstall(machine))
          throw new Error(
            `${pulled.reason}; run docker pull ${standIn.tag} where a registry is reached. Local stand-ins are made only on Debian, as root`,
          );
      }
      say(`making a stand-in for ${standIn.tag}`);
      await makeStandIn(docker, { standIn, machine, settings, say });
    }
  },
};

/** Images that the Engine doesn't hold, and stand-ins whose recipe has changed. Real images are taken as they are. */
async function absentImages(machine: Machine): Promise<StandIn[]> {
  const docker = new Docker();
  const held = await Promise.all(STAND_INS.map(({ tag }) => labelsOf(docker, tag)));
  if (held.every((labels) => labels !== null && labels[STAND_IN] === undefined)) return [];
  const recipes = recipesOf(machine, await machineSettings());
  return STAND_INS.filter((standIn, index) => {
    const labels = held[index] ?? null;
    return labels === null || (labels[STAND_IN] !== undefined && labels[RECIPE] !== recipes.get(standIn.tag));
  });
}

/** The recipe of every stand-in, by tag. A changed base changes those built from it. */
export function recipesOf(machine: Machine, settings: MachineSettings): Map<string, string> {
  const recipes = new Map<string, string>();
  for (const standIn of STAND_INS) {
    const base = standIn.base === null ? null : (recipes.get(standIn.base) ?? null);
    recipes.set(standIn.tag, recipeOf(standIn, base, standIn.ingredients(machine, settings)));
  }
  return recipes;
}

async function makeStandIn(
  docker: Docker,
  task: { standIn: StandIn; machine: Machine; settings: MachineSettings; say: Say },
): Promise<void> {
  const { standIn, machine, settings, say } = task;
  // In the cache folder, so that the archive of the root file system can be linked instead of copied.
  const parent = join(machine.cacheFolder, "stand-ins");
  mkdirSync(parent, { recursive: true });
  const context = mkdtempSync(join(parent, `${standIn.folder}-`));
  try {
    cpSync(sourceFolder(standIn), context, { recursive: true });
    await standIn.prepare({ context, machine, settings, say });
    const recipe = recipesOf(machine, settings).get(standIn.tag) ?? "";
    await buildImage(docker, { tag: standIn.tag, context, labels: { [STAND_IN]: "true", [RECIPE]: recipe } });
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

async function presentLine(): Promise<string> {
  const docker = new Docker();
  const held = await Promise.all(STAND_INS.map(({ tag }) => labelsOf(docker, tag)));
  return STAND_INS.map(({ tag }, index) => (held[index]?.[STAND_IN] === undefined ? tag : `${tag} (stand-in)`)).join(", ");
}
