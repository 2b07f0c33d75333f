import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isSelected, requirementsIn } from "./proof/requirements.ts";
import { namedTests } from "./proof/test-names.ts";

const USAGE = `npm run proof -- [--only IDS] [--strict] [--json]

Lists each requirement of docs/requirements.md with the tests whose names start with its id, and those without any.
  --only IDS   only these and what is below them: B8,W3.2
  --strict     exit code 1 if a listed requirement has no test, or a test names an id that isn't listed
  --json       one JSON text instead of lines
`;
const CHECKOUT = fileURLToPath(new URL("..", import.meta.url));

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    strict: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

function main(): number {
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const selected = values.only.split(",").filter((id) => id !== "");
  const all = requirementsIn(readFileSync(join(CHECKOUT, "docs/requirements.md"), "utf8"));
  const files = globSync("{shared,sdk,gateway-worker,build-service,scripts,bench,test,examples}/**/*.test.ts", {
    cwd: CHECKOUT,
    exclude: ["**/node_modules"],
  });
  const tests = files.sort().flatMap((file) => namedTests(file, readFileSync(join(CHECKOUT, file), "utf8")));
  const rows = all
    .filter(({ id }) => isSelected(id, selected))
    .map(({ id, text }) => ({ id, text, tests: tests.filter(({ ids }) => ids.includes(id)).map(({ file, name }) => ({ file, name })) }));
  const unproved = rows.filter((row) => row.tests.length === 0);
  const unlisted = tests.filter(({ ids }) => ids.some((id) => !all.some((requirement) => requirement.id === id)));
  const count = `${rows.length - unproved.length} of ${rows.length} requirements are named by a test, ${unproved.length} by none`;
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ requirements: rows, without: unproved.map(({ id }) => id), unlisted, count }, null, 2)}\n`);
  } else {
    for (const { id, text, tests: own } of rows) {
      process.stdout.write(`${id.padEnd(6)} ${own.length === 0 ? "NO TEST  " : ""}${text}\n`);
      for (const { file, name } of own) process.stdout.write(`         ${file}: ${name}\n`);
    }
    for (const { file, name } of unlisted) process.stdout.write(`names no listed requirement: ${file}: ${name}\n`);
    process.stdout.write(`${count}\n`);
  }
  return values.strict && unproved.length + unlisted.length > 0 ? 1 : 0;
}

process.exitCode = main();
