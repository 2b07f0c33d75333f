import { UserError } from "@agent-env/protocol";
import type { Settings } from "../config/settings.ts";
import { recordsSetting } from "../store/open.ts";
import { remoteSide } from "../store/remote/open.ts";
import { bucketName, type CloudflareRecords, namespaceName } from "../store/remote/setting.ts";
import { REMOTE_TIMING } from "../store/remote/timing.ts";
import type { Finding } from "./commands/doctor.ts";

/** Who asks for the doctor waits for it. */
const HASTY = { ...REMOTE_TIMING, tries: 2, silenceMs: 10_000, longestRetryAfterMs: 5_000 };

/** Whether the configured store at Cloudflare answers, each half apart. Nothing where records are local. */
export async function storeFindings(settings: Pick<Settings, "stores" | "env">): Promise<Finding[]> {
  try {
    const records = recordsSetting(settings);
    return records.kind === "local" ? [] : await remoteFindings(records);
  } catch (error) {
    return [failed("records", error)];
  }
}

async function remoteFindings(records: CloudflareRecords): Promise<Finding[]> {
  const { objects, projections } = remoteSide(records, HASTY);
  const halves = [
    { name: bucketName(records), ask: () => objects.get("store.json") },
    { name: namespaceName(records), ask: () => projections.get("env:none") },
  ];
  return Promise.all(
    halves.map(async ({ name, ask }): Promise<Finding> => {
      try {
        await ask();
        return { name, ok: true, detail: "answers", next: null, required: true };
      } catch (error) {
        return failed(name, error);
      }
    }),
  );
}

function failed(name: string, error: unknown): Finding {
  if (!(error instanceof UserError)) throw error;
  const what = error.message.startsWith(`${name}: `) ? error.message.slice(name.length + 2) : error.message;
  return { name, ok: false, detail: `${what}: ${error.why}`, next: error.next, required: true };
}
