import { DockerImageRecord, type SiteReport, siteReportKey } from "@agent-env/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { encodedId } from "../bundle/ids.ts";
import type { DeployableEnv, DeployableImage } from "../deploy/deployment.ts";
import type { StageEvent } from "../report/events.ts";
import type { SingleStore } from "../store/store.ts";
import { newestReport, siteImages, storedVerdicts, storeReport } from "./stored-report.ts";

const ID = "@local/demo/shop";

const image = (key: string, version: number): DeployableImage => ({
  key,
  record: DockerImageRecord.parse({
    id: `${ID}__${key}`,
    version,
    type: "docker_image",
    image_name: key,
    dockerfile_path: "Dockerfile",
    platform: null,
    source_digest: "0",
    build_context_object_url: "r2:blobs/sha256/0",
  }),
});
/** The env at a version, with its front end's image at another. */
const env = (version: number, frontend: number): DeployableEnv => ({
  id: ID,
  version,
  type: "website",
  shape: "website",
  provider: "gateway",
  name: null,
  servers: [{ kind: "website", name: "shop", backend: image("backend_image", 1), frontend: image("frontend_image", frontend) }],
});
const report = (of: DeployableEnv): SiteReport => ({
  format_version: 1,
  agent_env_version: "0.1.0",
  checked_at: "2026-03-01T09:00:00Z",
  browser: "Chromium 1",
  env: { id: of.id, version: of.version },
  address: null,
  options: { pages: 30, acts: null },
  sites: [
    {
      site: "shop",
      images: siteImages(of).get("shop") ?? null,
      verdict: "host-only",
      reasons: [],
      findings: [],
      notes: [],
      host: null,
      prefix: null,
    },
  ],
});

describe("N5 the reports of an env's sites in the store", () => {
  let store: SingleStore;
  let said: StageEvent[];
  const emit = (event: StageEvent): void => void said.push(event);
  beforeEach(() => {
    store = memoryStore();
    said = [];
  });

  test("a version that hasn't been checked has the newest report before it, none that came after", async () => {
    await storeReport(store, report(env(2, 1)), "<p>");
    await storeReport(store, report(env(9, 1)), "<p>");
    const found = await Promise.all([1, 2, 5, 10].map(async (version) => (await newestReport(store, env(version, 1), emit))?.env?.version));
    expect([found, said]).toEqual([[undefined, 2, 2, 9], []]);
  });

  test("a verdict holds as long as the site's images are the same, whatever else of the env has changed", async () => {
    await storeReport(store, report(env(2, 1)), "<p>");
    expect(await storedVerdicts(store, env(3, 1), emit)).toEqual(new Map([["shop", "host-only"]]));
    expect(await storedVerdicts(store, env(3, 2), emit)).toEqual(new Map());
    expect(await storedVerdicts(store, { ...env(3, 1), servers: [] }, emit)).toEqual(new Map());
  });

  test("a report that was damaged counts as none, and is told", async () => {
    await store.objects.put(siteReportKey(encodedId(ID), 2), '{"format_version": 1}');
    expect(await newestReport(store, env(2, 1), emit)).toBe(null);
    expect(said).toEqual([
      {
        kind: "log",
        entry: ID,
        level: "warning",
        message: `the report of its sites at v2 can't be read, and counts as none; agent-env check-site ${ID} writes it anew`,
      },
    ]);
  });
});
