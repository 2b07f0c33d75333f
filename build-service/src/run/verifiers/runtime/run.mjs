// Runs one JavaScript or TypeScript verifier and hands its rows to agent-env over descriptor 3. Plain JavaScript, since Node
// strips no types under node_modules, where this file lies once it is installed.
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { verifierContext } from "./context.mjs";

const request = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
// The file would be in the script's arguments otherwise.
process.argv.splice(2);
// Whatever the script leaves running or pending, the process stays until its group is ended from outside.
setInterval(() => {}, 2 ** 30);

process.on("uncaughtException", (error) => failed("threw", error));
process.on("unhandledRejection", (error) => failed("threw", error));

await run();

async function run() {
  let verify;
  try {
    verify = verifyOf(await import(pathToFileURL(request.script).href));
  } catch (error) {
    await failed("load", error);
    return;
  }
  if (verify === undefined) {
    send({ failed: { kind: "missing", message: "" } });
    return;
  }
  try {
    const rows = await verify(
      request.mcpUrl,
      verifierContext(request, (call) => send({ call })),
    );
    const plain = JSON.parse(JSON.stringify({ rows }, onlyFinite)).rows ?? null;
    await printed();
    send({ rows: plain });
  } catch (error) {
    await failed("threw", error);
  }
}

/** What was printed to a pipe may still wait in this process, which is ended as soon as it has reported. */
function printed() {
  return Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
}

function verifyOf(module) {
  const candidates = [module.verify, module.default, module.default?.verify];
  return candidates.find((candidate) => typeof candidate === "function");
}

/** JSON has no word for these, and would make them null: a score that isn't there. */
function onlyFinite(key, value) {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`${key} is ${value}, and has to be a finite number`);
  return value;
}

async function failed(kind, error) {
  const isError = error instanceof Error;
  process.stderr.write(`${isError ? ownFrames(error.stack) : error}\n`);
  await printed();
  send({ failed: { kind, message: isError ? `${error.name}: ${error.message}` : String(error) } });
}

/** The stack as the script's author knows it: without the frames of what called it. */
function ownFrames(stack) {
  return String(stack)
    .split("\n")
    .filter((line) => !line.includes(import.meta.url) && !line.includes("(node:internal/"))
    .join("\n");
}

function send(message) {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(3, bytes, at);
}
