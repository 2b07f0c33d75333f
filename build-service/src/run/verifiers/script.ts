import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { jsonOf, UserError } from "@agent-env/protocol";
import { z } from "zod";
import { type ChildEnd, runChild } from "./child.ts";
import { pythonProgram, type VerifierLanguage, verifierLanguage, verifierProblem } from "./language.ts";
import { type Row, Rows } from "./rows.ts";

const OUTPUT_BYTES = 50 * 1024 * 1024;

/** One call that a script made through its `ctx`. */
export type VerifierCall = { readonly method: string; readonly target: string; readonly ok: boolean; readonly ms: number };

export type VerifierRequest = {
  readonly script: Uint8Array;
  /** Its suffix decides what runs it; messages begin with it. */
  readonly filename: string;
  readonly mcpUrl: string;
  /** Null where the deployment has no gateway. */
  readonly gatewayUrl: string | null;
  /** What the script sees as `ctx.env`. */
  readonly envView: unknown;
  /** The conversation; there is none yet. */
  readonly run: null;
  /** The interpreter's name or path. */
  readonly python: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly signal: AbortSignal;
  /** A line that the script printed. */
  readonly onLog: (line: string) => void;
  readonly onCall: (call: VerifierCall) => void;
};

const Failure = z.object({ kind: z.enum(["load", "missing", "threw", "memory"]), message: z.string() });
type Failure = z.infer<typeof Failure>;
const Report = z.union([
  z.object({ call: z.object({ method: z.string(), target: z.string(), ok: z.boolean(), ms: z.number() }) }),
  z.object({ failed: Failure }),
  z.object({ rows: z.unknown() }),
]);

/**
 * Runs a verifier's script in a process group of its own and gives its rows (5-run §9.2). Whatever isn't a list of rows (a
 * throw, a time-out, a limit, another result) is a `UserError`, never a score. Nothing of it is left, however it ends.
 */
export async function runVerifier(request: VerifierRequest): Promise<Row[]> {
  const { filename, python, memoryMb } = request;
  const problem = verifierProblem(filename, python);
  const language = verifierLanguage(filename);
  if (problem !== null || language === null) {
    throw new UserError({ what: problem ?? filename, why: "its suffix decides what runs a verifier", next: "agent-env bundle check" });
  }
  const folder = await mkdtemp(join(await realpath(tmpdir()), "agent-env-verifier-"));
  try {
    const { argv, home } = await prepare(folder, language, request);
    let last: { readonly failed: Failure } | { readonly rows: unknown } | null = null;
    const end = await runChild({
      argv,
      folder,
      home,
      timeoutMs: request.timeoutMs,
      memoryBytes: memoryMb * 1024 * 1024,
      outputBytes: OUTPUT_BYTES,
      signal: request.signal,
      onLog: request.onLog,
      onReport(line) {
        const report = readReport(line, filename);
        if (!("call" in report)) last = report;
        else request.onCall(report.call);
        return last !== null;
      },
    });
    return settledRows(last, end, language, request);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Descriptor 3 is ours, but a script that looks for it can write to it. */
function readReport(line: string, filename: string): z.infer<typeof Report> {
  const report = Report.safeParse(jsonOf(line));
  if (report.success) return report.data;
  throw new UserError({
    what: `${filename}: it wrote to descriptor 3`,
    why: `${JSON.stringify(line.slice(0, 60))} is no report of a verifier`,
    next: "print to standard output or error",
  });
}

/** The script, what it is asked, and the empty folder that it runs in. */
async function prepare(folder: string, language: VerifierLanguage, request: VerifierRequest): Promise<{ argv: string[]; home: string }> {
  const home = join(folder, "home");
  const script = join(folder, "script", basename(request.filename));
  const input = join(folder, "request.json");
  await mkdir(home);
  await mkdir(join(folder, "script"));
  await writeFile(script, request.script);
  const { mcpUrl, gatewayUrl, envView: env, run, memoryMb } = request;
  await writeFile(input, JSON.stringify({ script, mcpUrl, gatewayUrl, env, run, memoryMb }));
  const runtime = (name: string): string => fileURLToPath(new URL(`runtime/${name}`, import.meta.url));
  if (language === "python")
    return { argv: [pythonProgram(request.python) ?? request.python, "-I", "-u", "-B", runtime("run.py"), input], home };
  const quiet = ["--disable-warning=ExperimentalWarning", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"];
  return { argv: [process.execPath, `--max-old-space-size=${memoryMb}`, ...quiet, runtime("run.mjs"), input], home };
}

function settledRows(
  last: { readonly failed: Failure } | { readonly rows: unknown } | null,
  end: ChildEnd,
  language: VerifierLanguage,
  request: VerifierRequest,
): Row[] {
  if (last === null) throw endedEarly(end, language, request);
  if ("failed" in last) throw failure(last.failed, language, request);
  const rows = Rows.safeParse(last.rows);
  if (rows.success) return rows.data;
  const [issue] = rows.error.issues;
  const place = issue?.path.map((part) => (typeof part === "number" ? `row ${part + 1}` : String(part))).join(", ");
  throw new UserError({
    what: `${request.filename}: verify() returned no list of rows`,
    why: `${place || "it"}: ${issue?.message}`,
    next: 'return a list such as [{"result": true, "description": "the order is there"}]',
  });
}

function failure({ kind, message }: Failure, language: VerifierLanguage, request: VerifierRequest): UserError {
  const { filename } = request;
  if (kind === "memory") return outOfMemory(message, request);
  if (kind === "missing") {
    return new UserError({
      what: `${filename}: it has no function "verify"`,
      why:
        language === "python"
          ? "verify(mcp_url) is what is called"
          : "verify(mcpUrl, ctx), the default or a named export, is what is called",
      next: "name its function so",
    });
  }
  const what = kind === "load" ? `${filename}: it can't be loaded` : `${filename}: verify() threw`;
  return new UserError({ what, why: message, next: "mend the script: where it broke is in its log" });
}

function endedEarly(end: ChildEnd, language: VerifierLanguage, request: VerifierRequest): UserError {
  const { filename, timeoutMs } = request;
  if (end.by === "timeout") {
    return new UserError({
      what: `${filename}: verify() didn't return within ${timeoutMs / 1000} s`,
      why: "no verifier may take longer",
      next: "mend the script, or let it check less",
    });
  }
  if (end.by === "memory") return outOfMemory("its processes together held more", request);
  if (end.by === "output") {
    return new UserError({
      what: `${filename}: it printed more than 50 MiB`,
      why: "what a verifier prints is kept as its log",
      next: "print less",
    });
  }
  const how =
    end.by === "itself" && end.signal !== null ? `it was ended by ${end.signal}` : `exit code ${end.by === "itself" ? end.code : 0}`;
  // Node ends itself so when its heap is full.
  if (language === "node" && end.by === "itself" && (end.signal === "SIGABRT" || end.signal === "SIGTRAP"))
    return outOfMemory(how, request);
  return new UserError({
    what: `${filename}: it ended before verify() returned`,
    why: how,
    next: "return the rows: a verifier neither exits nor ends its process",
  });
}

function outOfMemory(why: string, { filename, memoryMb }: VerifierRequest): UserError {
  return new UserError({
    what: `${filename}: it used more than ${memoryMb} MB`,
    why,
    next: "mend the script, or let it hold less at once",
  });
}
