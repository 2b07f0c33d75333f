import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLocalStore } from "../../build-service/src/store/local.ts";
import type { Store } from "../../build-service/src/store/store.ts";
import { putNextVersion } from "../../build-service/src/store/versions.ts";
import { type CommandLine, commandLine } from "../fixtures/command-line.ts";
import { freePort } from "../fixtures/free-port.ts";

describe("N5 check-site is refused where it can't be done", () => {
  let cli: CommandLine;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    cli = commandLine({ "acts.txt": "goto /\nhover menu\nwait\n" }, { PATH: "/nowhere", AGENT_ENV_CHROMIUM: "" });
  });
  afterAll(() => cli[Symbol.dispose]());

  const nowhere = () => `http://127.0.0.1:${port}`;

  test.each<[string, () => string[], number, () => string]>([
    [
      "by mistakes in the act script, all of them",
      () => [nowhere(), "--act", "acts.txt"],
      1,
      () =>
        'acts.txt:2: "hover" is no act; there are goto, click, fill, press, wait\n' +
        "acts.txt:3: write wait TEXT, with double quotes around what has spaces in it\n" +
        "2 problems; nothing was built, written or started\n",
    ],
    [
      "without an act script that is named",
      () => [nowhere(), "--act", "none.txt"],
      2,
      () =>
        `--act: "none.txt" can't be read\n  ENOENT: no such file or directory, open '${join(cli.folder, "none.txt")}'\n  Next: name a file of acts\n`,
    ],
    [
      "for a verdict of one mode",
      () => [nowhere(), "--mode", "host", "--require", "any"],
      2,
      () => "--require: it can't go with --mode host\n  a verdict compares both modes\n  Next: leave one of them out\n",
    ],
    [
      "without a browser",
      () => [nowhere()],
      2,
      () =>
        "Chromium: not found\n  a site is checked with the system's browser, and PATH has none of chromium, chromium-browser, google-chrome, google-chrome-stable, microsoft-edge\n" +
        "  Next: install Chromium (on Debian: apt-get install chromium), or name one in AGENT_ENV_CHROMIUM\n",
    ],
    [
      "for an env that nothing has stored",
      () => ["shop"],
      1,
      () => "shop: no such env in the store\n  nothing has written it\n  Next: run the bundle that holds it, or put it: agent-env --help\n",
    ],
  ])("%s", async (_, args, exitCode, text) => {
    expect(await cli.run("check-site", ...args())).toEqual({ exitCode, out: "", err: text() });
  });

  test("N8 doctor says that the browser is missing, which is no fault of the machine's", async () => {
    const { exitCode, out } = await cli.run("doctor", "--json");
    const { findings }: { findings: { name: string }[] } = JSON.parse(out);
    expect([exitCode, findings.filter(({ name }) => name === "browser for check-site")]).toEqual([
      0,
      [
        {
          name: "browser for check-site",
          ok: false,
          detail: "no Chromium on PATH",
          next: "install Chromium (on Debian: apt-get install chromium), or name one in AGENT_ENV_CHROMIUM",
          required: false,
        },
      ],
    ]);
  });

  describe("with a browser that is named", () => {
    const named = () => commandLine({}, { AGENT_ENV_CHROMIUM: "/nowhere/chromium" });

    test("where nothing answers", async () => {
      using other = named();
      expect(await other.run("check-site", nowhere())).toEqual({
        exitCode: 2,
        out: "",
        err: `${nowhere()}: nothing answers there\n  connect ECONNREFUSED 127.0.0.1:${port}\n  Next: start the site, then check it again\n`,
      });
    });

    test("below the root of another server", async () => {
      using other = named();
      expect(await other.run("check-site", `${nowhere()}/shop/`)).toEqual({
        exitCode: 2,
        out: "",
        err: `${nowhere()}/shop/: no deployment that is up serves a site there\n  another server is checked from its root, since that is where a site's own host would be\n  Next: agent-env check-site ${nowhere()}\n`,
      });
    });

    test("for an env without a website", async () => {
      using other = named();
      const store = await openLocalStore(join(other.folder, "state"), "write");
      const docker_image_artifact = await putImage(store, "items__env_image");
      await putEnv(store, { id: "items", type: "mcp_server", environment_name: "items", docker_image_artifact });
      await store.close();
      expect(await other.run("check-site", "items", "--sandbox", "process")).toEqual({
        exitCode: 2,
        out: "",
        err: "items: it has no website\n  what is checked is how a website's pages stand being served under a prefix\n  Next: name an env of type website, or a multi that has one\n",
      });
    });

    test("2 where the env can't be started, with what keeps it from that", async () => {
      using other = named();
      const store = await openLocalStore(join(other.folder, "state"), "write");
      const images = {
        backend_docker_image_artifact: await putImage(store, "shop__backend_image"),
        frontend_docker_image_artifact: await putImage(store, "shop__frontend_image"),
      };
      await putEnv(store, { id: "shop", type: "website", environment_name: "shop", ...images });
      await store.close();
      const { exitCode, err } = await other.run("check-site", "shop", "--sandbox", "process");
      expect(exitCode).toBe(2);
      expect(err).toMatch(
        /\nshop__(?:backend|frontend)_image v1: its build context is not in the store\n {2}nothing is at blobs\/sha256\/0\n {2}Next: /,
      );
      expect(readdirSync(join(other.folder, "state", "deployments"))).toEqual([]);
    });
  });
});

/** An image whose context nobody has stored; what names it in an env's record. */
async function putImage(store: Store, id: string): Promise<{ id: string; version: number; type: string }> {
  const fields = {
    image_name: id,
    dockerfile_path: "Dockerfile",
    platform: null,
    source_digest: "0",
    build_context_object_url: "r2:blobs/sha256/0",
  };
  const { version, type } = await putNextVersion(store, "artifact", { id, type: "docker_image", ...fields }, {});
  return { id, version, type };
}

function putEnv(store: Store, record: { id: string; type: string; [field: string]: unknown }): Promise<unknown> {
  return putNextVersion(store, "env", { metadata: {}, env_provider_type: "gateway", ...record }, {});
}
