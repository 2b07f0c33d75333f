import { posix } from "node:path";
import type { Machine } from "./machine.ts";
import type { ImageTree } from "./tree.ts";

/** `CMD` or `ENTRYPOINT`: words to execute, or a line for `/bin/sh`. */
export type Command = { readonly form: "exec"; readonly words: readonly string[] } | { readonly form: "shell"; readonly line: string };

/** Words that `/bin/sh` itself knows: what they lead to isn't looked for. */
const SHELL_WORDS = new Set(
  ". : [ break case cd command echo eval exec exit export false for if printf read set shift test trap true ulimit umask unset until wait while".split(
    " ",
  ),
);

/** Where the official images keep their interpreters; here they are found by name. */
const INTERPRETER_PATH = /^\/usr\/(?:local\/)?bin\/(node|python3?)$/;

/** What a container of an image with these two would execute; null when that is nothing. */
export function startCommand(entrypoint: Command | null, command: Command | null): readonly string[] | null {
  // The shell form of ENTRYPOINT takes no arguments, so CMD means nothing beside it.
  const parts = entrypoint?.form === "shell" ? [entrypoint] : [entrypoint, command];
  const argv = parts.flatMap((part) => (part === null ? [] : part.form === "exec" ? part.words : ["/bin/sh", "-c", part.line]));
  const [program, ...rest] = argv;
  return program === undefined ? null : [INTERPRETER_PATH.exec(program)?.[1] ?? program, ...rest];
}

/** Why the program that a start command names can't be found here; null when it can, or only `/bin/sh` could tell. */
export function missingProgram(argv: readonly string[], workingFolder: string, tree: ImageTree, machine: Machine): string | null {
  const program = argv[0] === "/bin/sh" && argv[1] === "-c" ? firstProgram(argv[2] ?? "") : (argv[0] ?? "");
  if (program === null || ["node", "python", "python3"].includes(program)) return programOfBase(program, machine);
  const inImage = program.includes("/") ? posix.resolve(workingFolder, program) : `/node_modules/.bin/${program}`;
  if (tree.get(inImage)?.kind === "file") return null;
  if (program.startsWith("/"))
    return machine.findProgram(program) === null ? `${program} is neither in the image nor on this machine` : null;
  if (program.includes("/")) return `${program} isn't in the image`;
  return machine.findProgram(program) === null ? `${program} isn't on this machine's PATH` : null;
}

function programOfBase(program: string | null, machine: Machine): string | null {
  return program?.startsWith("python") && machine.findProgram("python3") === null ? "python3 isn't on this machine's PATH" : null;
}

/** The first program of a shell line, where that is plain to see. */
function firstProgram(line: string): string | null {
  const words = line.trim().split(/\s+/);
  const word = words[0] === "exec" ? words[1] : words[0];
  return word !== undefined && /^[\w./-]+$/.test(word) && !SHELL_WORDS.has(word) ? word : null;
}
