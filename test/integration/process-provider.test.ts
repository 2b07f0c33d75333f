import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "@agent-env/protocol";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readContext } from "../../build-service/src/images/stored-context.ts";
import { processTable, startOf } from "../../build-service/src/providers/sandbox/process/process-table.ts";
import { processProvider } from "../../build-service/src/providers/sandbox/process/provider.ts";
import { serviceFolder } from "../../build-service/src/providers/sandbox/process/registration.ts";
import type { SandboxSession, Service } from "../../build-service/src/providers/sandbox/provider.ts";
import { openLocalStore } from "../../build-service/src/store/local.ts";
import type { Store } from "../../build-service/src/store/store.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { contextTar, deployContext, mcpService, putImage, sessionSpec } from "../fixtures/process-deploy.ts";
import { until } from "../fixtures/until.ts";

const NODE_SERVER = `
import { createServer } from "node:http";
console.log("up in", process.cwd());
createServer((request, response) => response.end(JSON.stringify({ env: process.env, cwd: process.cwd(), argv: process.argv.slice(2) })))
  .listen(Number(process.env.PORT), process.env.HOST);
`;
const NODE_IMAGE = {
  Dockerfile:
    'FROM node:24-slim\nWORKDIR /app\nENV COLOUR=red DATA=/app/data\nCOPY . .\nUSER node\nCMD ["node", "server.mjs", "/app/server.mjs"]\n',
  "server.mjs": NODE_SERVER,
};

let storeFolder: ReturnType<typeof temporaryFolder>;
let store: Store;
let state: ReturnType<typeof temporaryFolder>;
let context: ReturnType<typeof deployContext>;
const ID = "items-abcd1234";

beforeAll(async () => {
  storeFolder = temporaryFolder();
  store = await openLocalStore(storeFolder.path, "write");
});
afterAll(async () => {
  await store.close();
  storeFolder[Symbol.dispose]();
});
beforeEach(() => {
  state = temporaryFolder();
  context = deployContext(store, state.path);
});
afterEach(async () => {
  for (const { deploymentId } of await processProvider.labelled(context)) await processProvider.remove(deploymentId, context);
  state[Symbol.dispose]();
});

async function started(
  files: Readonly<Record<string, string>>,
  env: Record<string, string> = {},
  restart = false,
): Promise<{ url: string; session: SandboxSession }> {
  const session = await processProvider.open(sessionSpec(ID), context);
  const service = mcpService("items", await putImage(store, files), restart);
  const address = (await session.reserve([service])).get("items");
  if (address?.outside === undefined || address.outside === null) throw new Error("no address");
  await session.start(service, env);
  return { url: address.outside, session };
}

async function ready(session: SandboxSession, url: string): Promise<void> {
  const [probe] = await session.probeInside([{ name: "items", kind: "http", url, budgetSeconds: 20 }], () => {}, context.signal);
  if (probe?.ok !== true) throw new Error(`${probe?.reason}\n${await session.logs("items", 20)}`);
}

async function answerOf(files: Readonly<Record<string, string>>, env: Record<string, string> = {}): Promise<unknown> {
  const { url, session } = await started(files, env);
  await ready(session, url);
  return (await fetch(url)).json();
}

async function running(pid: number): Promise<boolean> {
  return (await processTable()).some((row) => row.pid === pid && !row.ended);
}

function registered(): { pid: number; started: string; service: string; folder: string }[] {
  return JSON.parse(readFileSync(join(state.path, "deployments", ID, "processes.json"), "utf8")).processes;
}

async function refusal(action: Promise<unknown>): Promise<string[]> {
  const error = await action.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof UserError) return [error.message, error.why, error.next];
  throw error ?? new Error("it was not refused");
}

describe("P3 an image's server runs from its folder", () => {
  test("with the variables of its image and its deployment, PATH and HOME, and nothing else of ours", async () => {
    process.env["AGENT_ENV_TEST_SECRET"] = "x";
    const answer = await answerOf(NODE_IMAGE, {
      ENVIRONMENT_NAME: "items",
      MCP_HOST: "0.0.0.0",
      DATABASE_URL: "sqlite:////tmp/items.sqlite",
    });
    delete process.env["AGENT_ENV_TEST_SECRET"];
    const own = join(state.path, "deployments", ID, "items");
    const root = join(own, "root");
    const port = expect.stringMatching(/^2\d{4}$/);
    expect(answer).toEqual({
      cwd: join(root, "app"),
      argv: [join(root, "app", "server.mjs")],
      env: {
        COLOUR: "red",
        DATA: join(root, "app", "data"),
        ENVIRONMENT_NAME: "items",
        DATABASE_URL: `sqlite:///${root}/tmp/items.sqlite`,
        HOST: "127.0.0.1",
        PORT: port,
        MCP_HOST: "127.0.0.1",
        MCP_PORT: port,
        HOME: root,
        PATH: `${own}/bin:${process.env.PATH}`,
      },
    });
    expect(context.events).toEqual([
      {
        kind: "log",
        entry: ID,
        level: "warning",
        message: "sandbox process isolates nothing: the servers run as you, with your files and your network",
      },
      { kind: "log", entry: "items", level: "info", message: "Dockerfile:5: USER node: ignored: the process runs as you" },
    ]);
  });

  test("in Python, where python is python3", async () => {
    const server = `
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'"python"')
http.server.HTTPServer((os.environ["MCP_HOST"], int(os.environ["MCP_PORT"])), Handler).serve_forever()
`;
    expect(await answerOf({ Dockerfile: "FROM python:3.9-slim\nCOPY server.py .\nCMD python server.py", "server.py": server })).toBe(
      "python",
    );
  });

  test("with the packages of our own installation in place of npm ci", async () => {
    const server = `import { z } from "zod";\n${NODE_SERVER.replace("JSON.stringify({", "JSON.stringify({ zod: typeof z.string, ")}`;
    const files = {
      Dockerfile: "FROM node:24\nWORKDIR /app\nCOPY package.json .\nRUN npm ci\nCOPY server.mjs .\nCMD node server.mjs",
      "package.json": '{"type":"module","dependencies":{"zod":"^4.0.0"}}',
      "server.mjs": server,
    };
    expect(await answerOf(files)).toMatchObject({ zod: "function" });
  });

  test("from agent-env/sdk, which it finds by its name, TypeScript as it is", async () => {
    const server = `import * as sdk from "@agent-env/sdk";\n${NODE_SERVER.replace("JSON.stringify({", "JSON.stringify({ sdk: Object.keys(sdk).length > 0 as boolean, ")}`;
    const files = { Dockerfile: 'FROM agent-env/sdk:0.1.0\nCOPY . .\nCMD ["node", "server.ts"]', "server.ts": server };
    expect(await answerOf(files)).toMatchObject({ sdk: true });
  });

  test("what it prints is its log, and how it ended is told", async () => {
    const { session } = await started({ Dockerfile: "FROM debian\nCMD for n in 1 2 3; do echo line $n; done; echo bad >&2; exit 7" });
    await until("it ends", 10_000, async () => (await session.exited("items")) !== null);
    expect(await session.exited("items")).toBe("it has ended: exit code 7");
    expect(await session.logs("items", 2)).toBe("line 3\nbad");
    expect(await session.logs("nobody", 2)).toBe("");
  });

  test("one that is to be restarted is, when it ends with an error", async () => {
    const script = 'test -e again && exec node server.mjs; touch again; echo "first time"; exit 1';
    const { session, url } = await started({ Dockerfile: `FROM node:24\nCOPY . .\nCMD ${script}`, "server.mjs": NODE_SERVER }, {}, true);
    await ready(session, url);
    expect(await session.exited("items")).toBeNull();
    expect(await session.logs("items", 3)).toContain("first time\nagent-env: ended with status 1, started again in 1 s\nup in");
  });

  test("one that never comes up is given up after three restarts", async () => {
    const { session } = await started({ Dockerfile: "FROM debian\nCMD exit 9" }, {}, true);
    await until("it is given up", 20_000, async () => (await session.exited("items")) !== null);
    expect(await session.exited("items")).toMatch(/^it was restarted [34] times; exit code 9$/);
  });

  test("ports are free, different, and held until the server starts", async () => {
    const session = await processProvider.open(sessionSpec(ID), context);
    const image = await putImage(store, NODE_IMAGE);
    const services = ["a", "b", "c"].map((name): Service => mcpService(name, image));
    const addresses = [...(await session.reserve(services)).values()];
    expect(new Set(addresses.map(({ listen }) => listen.port)).size).toBe(3);
    const [first] = addresses;
    expect(first).toEqual({
      inside: first?.outside,
      outside: `http://127.0.0.1:${first?.listen.port}`,
      listen: { host: "127.0.0.1", port: first?.listen.port },
    });
    // Whoever holds it hangs up; a port that is free would refuse.
    await expect(fetch(String(first?.outside))).rejects.toMatchObject({ cause: { code: "UND_ERR_SOCKET" } });
    for (const service of services) await session.start(service, {});
  });

  test("no file is placed, since a path of the image isn't one of this machine", async () => {
    const { session } = await started(NODE_IMAGE);
    expect(await session.placeFile("items", "/data/seed.json", Buffer.from("[]"))).toBe(false);
  });
});

describe("P3 what can't be run is refused with the reason", () => {
  test("a Dockerfile that can't be honoured: the same at preflight and at the start", async () => {
    const files = { Dockerfile: "FROM node:24\nRUN apt-get update\nVOLUME /x\nCMD node x" };
    const problems = await processProvider.imageProblems({
      dockerfile: "Dockerfile",
      entries: async () => readContext(await contextTar(files)),
    });
    expect(problems).toEqual([
      "Dockerfile:2: RUN apt-get update: commands can't be run without Docker, only npm ci and npm install may be skipped",
      "Dockerfile:3: VOLUME /x: it can't be honoured without Docker",
    ]);
    expect(await refusal(started(files))).toEqual([
      `me/items__env_image v1: ${problems[0]}`,
      problems[1],
      "--sandbox local, which builds it with Docker",
    ]);
  });

  test.each(["../evil", "/etc/evil", "a/../../evil", "a//b"])(
    "a forged context with the entry %j, and nothing is written",
    async (name) => {
      const files = { Dockerfile: "FROM node:24\nCOPY . .\nCMD node x", [name]: "evil" };
      expect(await refusal(started(files))).toEqual([
        `the stored build context holds ${JSON.stringify(name)}, which leaves the folder that it is unpacked into, or isn't written plainly`,
        "no context that agent-env writes holds such an entry",
        "write the image anew: agent-env run <bundle> --rebuild",
      ]);
      expect(readdirSync(join(state.path, "deployments", ID, "items"))).toEqual([]);
    },
  );

  test("a context that the store lost", async () => {
    const image = { ...(await putImage(store, NODE_IMAGE)), build_context_object_url: "r2:blobs/sha256/00" };
    const session = await processProvider.open(sessionSpec(ID), context);
    const service = mcpService("items", image);
    await session.reserve([service]);
    expect(await refusal(session.start(service, {}))).toEqual([
      "me/items__env_image v1: its build context is not in the store",
      "nothing is at blobs/sha256/00",
      "write the image anew: agent-env run <bundle> --rebuild",
    ]);
  });

  test("N7 a context that something changed in the store", async () => {
    const image = await putImage(store, { ...NODE_IMAGE, "changed.txt": "later" });
    const key = image.build_context_object_url.slice("r2:".length);
    await store.of(image.id).objects.put(key, "changed");
    const session = await processProvider.open(sessionSpec(ID), context);
    const service = mcpService("items", image);
    await session.reserve([service]);
    expect(await refusal(session.start(service, {}))).toEqual([
      "me/items__env_image v1: its build context is not what was stored",
      `${key} is to hold bytes of that sha256, and holds 7 bytes of sha256 d67e2e944994496c8d8ec76eed0cf9f09679448d584b532bebf941852a37f5ed: something else changed them`,
      "write the image anew: agent-env run <bundle> --rebuild",
    ]);
  });

  test.each(["..", "a/b", "../../x", ""])("the deployment id %j leads nowhere", async (id) => {
    await expect(processProvider.open(sessionSpec(id), context)).rejects.toThrow("not a deployment id");
    await expect(processProvider.remove(id, context)).rejects.toThrow("not a deployment id");
  });

  test("a service's name is a folder's name, whatever it holds", () => {
    expect(["items", "..", ".", "a/b", "..a", "Ä b"].map((name) => serviceFolder("/d", name))).toEqual([
      "/d/items",
      "/d/%2E%2E",
      "/d/%2E",
      "/d/a%2Fb",
      "/d/..a",
      "/d/%C3%84%20b",
    ]);
  });
});

describe("P3 nothing of a deployment is left", () => {
  test("remove ends its processes, deletes its folder, and may be called twice", async () => {
    const { url, session } = await started(NODE_IMAGE);
    await ready(session, url);
    const [{ pid } = { pid: 0 }] = registered();
    expect((await processProvider.labelled(context)).map(({ kind, name }) => [kind, name])).toEqual([
      ["process", `items (pid ${pid})`],
      ["folder", join(state.path, "deployments", ID)],
    ]);
    expect(await processProvider.remove(ID, context)).toEqual([]);
    expect(await running(pid)).toBe(false);
    expect(readdirSync(join(state.path, "deployments"))).toEqual([]);
    expect(await processProvider.labelled(context)).toEqual([]);
    expect(await processProvider.remove(ID, context)).toEqual([]);
  });

  test("a server and its child that ignore SIGTERM are killed", async () => {
    const { session } = await started({ Dockerfile: "FROM debian\nCMD trap '' TERM; sleep 300 & echo child $!; while :; do wait; done" });
    await until("it is up", 10_000, async () => (await session.logs("items", 1)).startsWith("child"));
    const child = Number((await session.logs("items", 1)).split(" ")[1]);
    expect(await running(child)).toBe(true);
    expect(await processProvider.remove(ID, context)).toEqual([]);
    expect(await running(child)).toBe(false);
  });

  test("a child whose server has ended is found by its group and HOME", async () => {
    const { session } = await started({ Dockerfile: "FROM debian\nCMD sleep 300 & echo child $!" });
    await until("the server ends", 10_000, async () => (await session.exited("items")) !== null);
    const child = Number((await session.logs("items", 1)).split(" ")[1]);
    expect(await running(child)).toBe(true);
    expect(await processProvider.remove(ID, context)).toEqual([]);
    expect(await running(child)).toBe(false);
  });

  test("a process that has the pid of one of ours, but another start time, is left alone", async () => {
    await processProvider.open(sessionSpec(ID), context);
    const stranger = spawn("sleep", ["300"], { detached: true });
    try {
      const path = join(state.path, "deployments", ID, "processes.json");
      const registration = JSON.parse(readFileSync(path, "utf8"));
      const process_ = { service: "items", pid: stranger.pid, started: "earlier", folder: "/" };
      await writeFile(path, JSON.stringify({ ...registration, processes: [process_] }));
      expect((await processProvider.labelled(context)).map(({ kind }) => kind)).toEqual(["folder"]);
      expect(await processProvider.remove(ID, context)).toEqual([]);
      expect(await running(stranger.pid ?? 0)).toBe(true);
    } finally {
      stranger.kill("SIGKILL");
    }
  });

  test("after kill -9 of the command, its servers run on, are listed with their labels, and can be removed", async () => {
    const command = fixture("started", state.path, "FROM debian\nCMD sleep 300");
    await printed(command, "started");
    command.kill("SIGKILL");
    await once(command, "exit");
    const labelled = await processProvider.labelled(context);
    expect(labelled).toEqual([
      expect.objectContaining({ kind: "process", deploymentId: "items-killed01", owner: "run-1", expiresAt: "2099-01-01T00:00:00Z" }),
      expect.objectContaining({ kind: "folder", deploymentId: "items-killed01", owner: "run-1" }),
    ]);
    const pid = Number(/pid (\d+)/.exec(labelled[0]?.name ?? "")?.[1]);
    expect(await running(pid)).toBe(true);
    expect(await processProvider.remove("items-killed01", context)).toEqual([]);
    expect(await running(pid)).toBe(false);
    expect(await processProvider.labelled(context)).toEqual([]);
  });

  test("what a command started goes on after it has ended well, as env deploy needs", async () => {
    const command = fixture("deployed", state.path, "FROM debian\nCMD echo up; sleep 300");
    expect(await once(command, "exit")).toEqual([0, null]);
    const pid = Number(/pid (\d+)/.exec((await processProvider.labelled(context))[0]?.name ?? "")?.[1]);
    expect(await running(pid)).toBe(true);
    expect(await processProvider.remove("items-killed01", context)).toEqual([]);
    expect(await running(pid)).toBe(false);
  });

  test("after kill -9 between a process's start and its registration, nothing has run and nothing runs", async () => {
    const command = fixture("unregistered", state.path);
    const pid = Number((await printed(command, "pid ")).split(" ")[1]);
    expect(await startOf(pid)).not.toBeNull();
    command.kill("SIGKILL");
    await until("the process ends", 5_000, async () => (await startOf(pid)) === null);
    expect(existsSync(join(state.path, "ran"))).toBe(false);
  });
});

function fixture(...args: string[]): ChildProcess {
  const script = fileURLToPath(new URL("../fixtures/start-and-stay.ts", import.meta.url));
  return spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

async function printed(command: ChildProcess, start: string): Promise<string> {
  let text = "";
  for await (const chunk of command.stdout ?? []) {
    text += chunk;
    if (text.includes(start) && text.endsWith("\n")) return text.trim();
  }
  throw new Error(`it ended after ${JSON.stringify(text)}`);
}
