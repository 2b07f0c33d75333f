import type { Kind } from "@agent-env/protocol";
import type { Entry } from "./bundle.ts";
import type { Checked, CheckedEntity } from "./checked.ts";
import { type BuiltImage, type ResolvedTask, writeKey } from "./resolved.ts";
import type { Ordered } from "./write-order.ts";

type Common = Ordered & { readonly kind: Kind; readonly id: string; readonly entry: Entry; readonly label: string };

/** One write: an image that is built, an entity, or a task. */
export type WriteUnit =
  | (Common & { readonly what: "image"; readonly entity: CheckedEntity; readonly image: BuiltImage })
  | (Common & { readonly what: "entity"; readonly entity: CheckedEntity })
  | (Common & { readonly what: "task"; readonly task: ResolvedTask });

/** What a checked bundle writes, in bundle order: an image just before the entry that builds it, tasks and evals last. */
export function writeUnits({ entities, tasks }: Checked): WriteUnit[] {
  const isEval = ({ resolved }: CheckedEntity): boolean => resolved.entry.kind === "eval";
  return [
    ...entities.filter((entity) => !isEval(entity)).flatMap(entityUnits),
    ...tasks.map(taskUnit),
    ...entities.filter(isEval).flatMap(entityUnits),
  ];
}

function entityUnits(entity: CheckedEntity): WriteUnit[] {
  const { entry, builds, type, refs } = entity.resolved;
  const images = builds.map((image): WriteUnit => {
    const key = writeKey("artifact", image.id);
    return {
      what: "image",
      key,
      kind: "artifact",
      id: image.id,
      entry,
      entryPath: entry.path,
      label: image.label,
      needs: [],
      entity,
      image,
    };
  });
  if (type.writes === "image") return images;
  const { kind, id, path } = entry;
  // Tasks and evals name what they run without a version, so nothing is written before them for their sake.
  const named = refs.filter(({ target }) => target.in === "bundle").map(({ target }) => writeKey(target.kind, target.id));
  const needs = kind === "eval" ? [] : [...new Set([...images.map(({ key }) => key), ...named])];
  return [...images, { what: "entity", key: writeKey(kind, id), kind, id, entry, entryPath: path, label: path, needs, entity }];
}

function taskUnit(task: ResolvedTask): WriteUnit {
  const { kind, id, path } = task.entry;
  return { what: "task", key: writeKey(kind, id), kind, id, entry: task.entry, entryPath: path, label: path, needs: [], task };
}
