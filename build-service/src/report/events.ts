import type { Problem } from "@agent-env/protocol";

/**
 * What a stage says. Terminal, plain log and `--json` are three readers of one stream of these; no stage prints. `entry`
 * is the bundle's entry, deployment or file that it is about; `message` one line for a person.
 */
export type StageEvent =
  | { kind: "problem"; problem: Problem }
  | { kind: "plan"; entry: string; message: string; version?: number; reasons?: readonly string[] }
  | {
      kind: "image";
      entry: string;
      phase: "start" | "step" | "log" | "done" | "failed" | "reused";
      message: string;
      step?: number;
      steps?: number;
    }
  | { kind: "write"; entry: string; message: string; version: number; reasons: readonly string[] }
  | { kind: "wait"; entry: string; message: string }
  | { kind: "infra"; entry: string; message: string }
  | { kind: "deploy"; entry: string; phase: "start" | "probe" | "ready" | "failed"; message: string }
  | { kind: "step"; entry: string; step: string; phase: "start" | "done" | "failed"; message: string }
  | { kind: "score"; entry: string; step: string; score: number; message: string }
  | { kind: "teardown"; entry: string; phase: "part" | "done"; message: string }
  | { kind: "log"; entry?: string; level: "info" | "warning" | "detail"; message: string };

export type Emit = (event: StageEvent) => void;
