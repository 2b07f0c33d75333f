import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { siteLabel } from "../../../build-service/src/deploy/topology.ts";
import { rawTo } from "../../fixtures/gateway/client.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { type Edge, startEdge } from "../../fixtures/gateway/worker-host.ts";
import { until } from "../../fixtures/until.ts";

const DEPLOYMENT = "a-suite-of-many-things-ab12cd34";
/** Of this one the label holds the deployment's id in part only. */
const LONG = "the-shop-with-a-name-that-leaves-little-room";
const SHORT = "my_shop";

describe("N5 a site whose host label was shortened, at the edge", () => {
  let edge: Edge;
  let site: Recorder;
  const cut = siteLabel(LONG, DEPLOYMENT);
  const whole = siteLabel(SHORT, DEPLOYMENT);
  beforeAll(async () => {
    edge = await startEdge();
    site = await recorder();
    const server = (name: string) => ({ name, kind: "website", url: site.url, frontend_url: site.url, label: siteLabel(name, DEPLOYMENT) });
    await edge.inKv(DEPLOYMENT, {
      deployment_id: DEPLOYMENT,
      name: "demo",
      revision: 1,
      auth: { mode: "open" },
      servers: [server(LONG), server(SHORT)],
    });
    await edge.labelInKv(cut, DEPLOYMENT);
    await until("it is ready", 30_000, async () => (await rawTo(edge.port, `/d/${DEPLOYMENT}/health`)).status === 200);
  });
  afterAll(() => Promise.all([edge.stop(), site.close()]));
  const at = async (label: string, path = "/x") => {
    const { status } = await rawTo(edge.port, path, { method: "POST", headers: { host: `${label}.localhost` }, body: "{}" });
    return [status, site.received.splice(0).map(({ target }) => target)];
  };

  test("is found though its deployment's id was cut", async () => {
    expect([cut.length, cut.includes(DEPLOYMENT)]).toEqual([59, false]);
    expect([await at(cut), await at(whole)]).toEqual([
      [200, ["/x"]],
      [200, ["/x"]],
    ]);
  });

  test("is not found under a label that no record has, whatever KV says", async () => {
    const other = `${cut.slice(0, -8)}ffffffff`;
    expect(await at(other)).toEqual([404, []]);
    const forged = `${cut.slice(0, -8)}00000000`;
    await edge.labelInKv(forged, DEPLOYMENT);
    expect(await at(forged)).toEqual([404, []]);
  });

  test("is served by its deployment's object where a trigger watches it", async () => {
    const watched = [LONG, SHORT].map((app) => ({
      id: app,
      when: { type: "website", app, method: "POST" },
      actions: [{ type: "permission", action: "disable", role: "x", tools: ["t"] }],
    }));
    const registered = await rawTo(edge.port, `/d/${DEPLOYMENT}/triggers/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ triggers: watched }),
    });
    expect([registered.status, registered.text]).toEqual([200, JSON.stringify({ ok: true, added: [LONG, SHORT], all: [LONG, SHORT] })]);
    const fired = async () => {
      const { triggers } = (await rawTo(edge.port, `/d/${DEPLOYMENT}/triggers/state`)).json() as { triggers: { fire_count: number }[] };
      return triggers.map(({ fire_count }) => fire_count);
    };
    // the Worker's own copy of what is watched may be a second old
    await until("both have fired", 20_000, async () => {
      const answers = [await at(cut, "/buy"), await at(whole, "/buy")];
      expect(answers).toEqual([
        [200, ["/buy"]],
        [200, ["/buy"]],
      ]);
      return (await fired()).every((count) => count > 0);
    });
  });
});
