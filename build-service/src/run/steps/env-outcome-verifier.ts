import { FileRecord } from "@agent-env/protocol";
import { z } from "zod";
import { readFileBlob } from "../../store/blobs.ts";
import { deployed } from "../deployed.ts";
import { aggregate } from "../verifiers/aggregators.ts";
import { startForwarder } from "../verifiers/forwarder.ts";
import { runVerifier } from "../verifiers/script.ts";
import { Name, Verifier, Version } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Fields = z.object({
  env_id: Name,
  file_artifact_id: Name,
  file_artifact_version: Version,
  prompt_id: z.string().nullish(),
  ...Verifier,
});

/** Runs a script against the deployed env, in a process of its own, and scores the rows it gives. */
export const envOutcomeVerifierStep = stepOf({
  type: "env_outcome_verifier",
  fields: Fields,
  idle: ["prompt_id", "verifier_id"],
  entityRefs: [
    { path: "env_id", kind: "env" },
    { path: "file_artifact_id", kind: "artifact", versionPath: "file_artifact_version", types: ["file"] },
  ],
  async run(fields, context) {
    const deployment = deployed(context, fields.env_id);
    const { record } = deployment;
    if (record.mcp_url === null) throw new Error(`${record.deployment_id}: deployed without an MCP address`);
    const file = FileRecord.parse(await context.entity("artifact", fields.file_artifact_id, fields.file_artifact_version ?? null));
    const script = await readFileBlob(context.store, file);

    const { authorization } = await deployment.authorization("grader");
    const gateway = record.gateway_url ?? "";
    const forwarder = authorization === undefined ? null : await startForwarder(gateway, authorization);
    const asked = (url: string): string => (forwarder === null ? url : forwarder.url + url.slice(gateway.length));
    const running = runVerifier({
      script,
      filename: file.filename,
      mcpUrl: asked(record.mcp_url),
      gatewayUrl: record.gateway_url === null ? null : asked(record.gateway_url),
      envView: { id: record.env_id, version: record.env_version, deployment_id: record.deployment_id, card: record.environment_card },
      run: null,
      python: context.verifiers.python,
      timeoutMs: context.verifiers.timeout_s * 1000,
      memoryMb: context.verifiers.memory_mb,
      signal: context.signal,
      onLog: (line) => context.emit({ kind: "log", entry: `${context.task}: ${context.stepId}`, level: "info", message: line }),
      onCall: ({ method, target, ok, ms }) =>
        context.emit({
          kind: "log",
          entry: `${context.task}: ${context.stepId}`,
          level: "info",
          message: `${method} ${target} ${ok ? "answered" : "failed"} after ${Math.round(ms)} ms`,
        }),
    });
    const results = await running.finally(() => forwarder?.close());
    const score = aggregate(fields.score_aggregator, results);
    context.verifications.set(context.stepId, { results, score });
    const passed = results.filter(({ result }) => result).length;
    const message = `scored ${score}, ${passed} of ${results.length} rows passed`;
    context.emit({ kind: "score", entry: context.task, step: context.stepId, score, message });
    for (const row of results.filter(({ result }) => !result)) {
      context.emit({
        kind: "log",
        entry: `${context.task}: ${context.stepId}`,
        level: "info",
        message: `did not pass: ${row.description ?? row.justification ?? row.id ?? JSON.stringify(row)}`,
      });
    }
    return message;
  },
});
