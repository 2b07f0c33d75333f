import { type CheckedSite, SiteReport, siteReportKey, siteReportPageKey, siteReportsPrefix } from "@agent-env/protocol";
import { encodedId, sha256Hex } from "../bundle/ids.ts";
import type { DeployableEnv, DeployableImage } from "../deploy/deployment.ts";
import type { Emit } from "../report/events.ts";
import { readStored } from "../store/json.ts";
import type { Store } from "../store/store.ts";

type EnvImages = Pick<DeployableEnv, "servers">;

/** A digest of the images that each site of an env runs from, by the site's name. */
export function siteImages({ servers }: EnvImages): ReadonlyMap<string, string> {
  const named = ({ record: { id, version, source_digest, image_name } }: DeployableImage) => [id, version, source_digest, image_name];
  return new Map(
    servers.flatMap((server): [string, string][] =>
      server.kind === "website" ? [[server.name, sha256Hex(JSON.stringify([named(server.backend), named(server.frontend)]))]] : [],
    ),
  );
}

/** The newest report of an env up to a version; null where there is none, or what there is can't be read, which is said. */
export async function newestReport(
  store: Store,
  { id, version }: Pick<DeployableEnv, "id" | "version">,
  emit: Emit,
): Promise<SiteReport | null> {
  const { objects } = store.of(id);
  const prefix = siteReportsPrefix(encodedId(id));
  const versions = (await objects.list(prefix)).flatMap(({ key }) => {
    const found = /^(\d+)\/site\.json$/.exec(key.slice(prefix.length));
    return found === null ? [] : [Number(found[1])];
  });
  const newest = Math.max(0, ...versions.filter((other) => other <= version));
  const object = newest === 0 ? null : await objects.get(siteReportKey(encodedId(id), newest));
  if (object === null) return null;
  const read = readStored(object.bytes, SiteReport);
  if ("value" in read) return read.value;
  const message = `the report of its sites at v${newest} can't be read, and counts as none; agent-env check-site ${id} writes it anew`;
  emit({ kind: "log", entry: id, level: "warning", message });
  return null;
}

/** Stores a report and its page beside the env's record, in the place of an earlier one of that version (4-bundle §11.1). */
export async function storeReport(store: Store, report: SiteReport, page: string): Promise<void> {
  if (report.env === null) throw new Error("a report is stored with the env that it is about");
  const { id, version } = report.env;
  const { objects } = store.of(id);
  await objects.put(siteReportPageKey(encodedId(id), version), page);
  await objects.put(siteReportKey(encodedId(id), version), `${JSON.stringify(report, null, 2)}\n`);
}

/** What is known of an env's sites from an earlier check, as long as their images are the same. */
export async function storedVerdicts(
  store: Store,
  env: DeployableEnv,
  emit: Emit,
): Promise<ReadonlyMap<string, NonNullable<CheckedSite["verdict"]>>> {
  const images = siteImages(env);
  const report = images.size === 0 ? null : await newestReport(store, env, emit);
  const known = (report?.sites ?? []).filter(({ site, images: checked }) => checked !== null && checked === images.get(site));
  return new Map(known.flatMap(({ site, verdict }) => (verdict === null ? [] : [[site, verdict]])));
}
