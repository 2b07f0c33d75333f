import { relative } from "node:path";
import { UserError } from "@agent-env/protocol";
import { type Initialized, init } from "../../init/init.ts";
import { INIT_KINDS, isInitKind } from "../../init/kinds.ts";
import type { AddCommand } from "../cli.ts";
import { type CommonOptions, columns, printDocument } from "../io.ts";

export const initCommand: AddCommand = (parent, io) => {
  parent
    .command("init")
    .description("write the first files of something new: into the bundle here, or into a new one")
    .argument("<kind>", Object.keys(INIT_KINDS).join(", "))
    .argument("<name>", "its name")
    .addHelpText("after", `\nKinds:\n${columns(Object.entries(INIT_KINDS).map(([kind, about]) => [`  ${kind}`, about]))}`)
    .action(async (kind: string, name: string, options: CommonOptions) => {
      if (!isInitKind(kind)) throw unknownKind(kind);
      const { registry } = await io.loadedPlugins();
      const made = await init({
        kind,
        name: name.normalize("NFC"),
        cwd: io.cwd,
        registry,
        get signal() {
          return io.signal;
        },
      });
      const next = nextCommands(made, io.cwd);
      printDocument(io, options, { kind, name, bundle: made.bundle, created: made.created, next }, text(made, next, io.cwd));
    });
};

function unknownKind(kind: string): UserError {
  return new UserError({
    what: `init ${JSON.stringify(kind)}: there is no such kind`,
    why: `it makes ${Object.keys(INIT_KINDS).join(", ")}`,
    next: "agent-env init --help says what each is",
    exitCode: 2,
  });
}

function nextCommands({ bundle, canRun }: Initialized, cwd: string): string[] {
  const folder = relative(cwd, bundle) || ".";
  const word = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  return [`agent-env bundle check ${word}`, ...(canRun ? [`agent-env run ${word}`] : [])];
}

function text({ bundle, isNewBundle, created }: Initialized, next: readonly string[], cwd: string): string {
  const folder = relative(cwd, bundle) || ".";
  const files = created.map((path) => `  ${path}`);
  return [`${isNewBundle ? "made" : "added to"} ${folder}:`, ...files, "", "Next:", ...next.map((command) => `  ${command}`)].join("\n");
}
