import { type Check, failed, passed, type Subject, skipped, type Verdict } from "./check.ts";
import { asFile, askData, dataPath, dataRequest, hasDataPlane, partsIn } from "./data-plane.ts";
import { alike, type DataTrial, dataTrial, getData, isDone, resets, sawSeed } from "./data-trial.ts";

const NOTHING_TO_SEE = "there is no data to see it by: load some first, or give a seed with --seed";
const UNSEEN = "what was loaded isn't seen: data-add says so";

/** What is promised of the data itself: these reset the environment, and load what it held again at the end. */
export const DATA_CONTENT_CHECKS: readonly Check[] = [
  tried({
    id: "data-reset",
    level: "required",
    title: "`data/reset` leaves nothing of what was loaded",
    verdict(_subject, trial) {
      const reset = [trial.firstReset, trial.secondReset].find((answer) => !isDone(answer));
      if (reset !== undefined) return failed(reset, { expected: "the result {}", fix: "answer a reset with an empty object" });
      if (partsIn(trial.empty) === null || partsIn(trial.again) === null) return skipped("after a reset data/get gives no parts");
      if (!sawSeed(trial)) return skipped(trial.isOwn ? NOTHING_TO_SEE : UNSEEN);
      return resets(trial)
        ? passed
        : failed(trial.again, {
            expected: `the data after the first reset, ${JSON.stringify(partsIn(trial.empty))}`,
            fix: "let the reset handler drop everything that data/add brought, wherever it is kept",
          });
    },
  }),
  tried({
    id: "data-add",
    level: "required",
    title: "`data/add` takes parts, and they are seen",
    verdict(_subject, trial) {
      if (trial.isOwn && (trial.seed.length === 0 || !sawSeed(trial))) return skipped(NOTHING_TO_SEE);
      if (!isDone(trial.add))
        return failed(trial.add, { expected: "the result {}", fix: "take the parts, and answer with an empty object" });
      return sawSeed(trial)
        ? passed
        : failed(trial.filled, {
            expected: "other data than before the parts were added",
            fix: "let data/get give what data/add has taken",
          });
    },
  }),
  tried({
    id: "data-round-trip",
    level: "recommended",
    title: "what `data/get` gave, `data/add` takes, and `data/get` gives again",
    async verdict(subject, trial) {
      const fix = "let the add handler take and keep all that the get handler writes: exports are loaded again";
      if (trial.isOwn) {
        if (partsIn(trial.before)?.length === 0 || alike(trial.before, trial.empty)) return skipped(NOTHING_TO_SEE);
        if (!isDone(trial.add)) return failed(trial.add, { expected: "the result {}", fix });
        return alike(trial.before, trial.filled) ? passed : failed(trial.filled, { expected: JSON.stringify(partsIn(trial.before)), fix });
      }
      if (!sawSeed(trial)) return skipped(UNSEEN);
      return await loadedAgain(subject, trial, { parts: partsIn(trial.filled) ?? [], fix });
    },
  }),
  tried({
    id: "data-seed-file",
    level: "recommended",
    title: "a seed may also come as a file with bytes",
    async verdict(subject, trial) {
      const parts = asFile(trial.seed);
      if (!sawSeed(trial)) return skipped(trial.isOwn ? NOTHING_TO_SEE : UNSEEN);
      if (parts === null) return skipped("the data at hand is not one data part");
      const fix = "take the same data from a file: loaders send bytes or an address where a seed is a file";
      return await loadedAgain(subject, trial, { parts, fix });
    },
  }),
];

type Tried = Omit<Check, "group" | "changes" | "run"> & { verdict(subject: Subject, trial: DataTrial): Verdict | Promise<Verdict> };

function tried({ verdict, ...check }: Tried): Check {
  return {
    ...check,
    group: "data plane",
    changes: true,
    async run(subject) {
      if (!hasDataPlane(subject.card) || dataPath(subject) === null) return skipped("the card lists no operations here");
      const trial = await dataTrial(subject);
      return "reason" in trial ? skipped(trial.reason) : await verdict(subject, trial);
    },
  };
}

/** Whether parts load as the seed did. */
async function loadedAgain(
  subject: Subject,
  trial: DataTrial,
  { parts, fix }: { readonly parts: readonly unknown[]; readonly fix: string },
): Promise<Verdict> {
  if (!resets(trial)) return skipped("a reset leaves data behind: data-reset says so");
  await askData(subject, dataRequest("data/reset"));
  const add = await askData(subject, dataRequest("data/add", { parts }));
  if (!isDone(add)) return failed(add, { expected: "the result {}", fix });
  const answer = await getData(subject);
  return alike(trial.filled, answer) ? passed : failed(answer, { expected: JSON.stringify(partsIn(trial.filled)), fix });
}
