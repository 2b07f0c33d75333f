// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are Dockerfiles
import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";
import { describe, expect, test } from "vitest";
import { readContext } from "../../../images/stored-context.ts";
import { type ImagePlan, planImage } from "./image-plan.ts";
import type { Machine } from "./machine.ts";

const machine: Machine = {
  node: "/opt/node/bin/node",
  nodeVersion: "24.21.0",
  python: async () => ({ path: "/usr/bin/python3", version: "3.11.7" }),
  path: "/usr/bin:/bin",
  sdkVersion: "0.1.0",
  findPackage: (name) => (name === "zod" ? { folder: "/cli/node_modules/zod", version: "4.6.7" } : null),
  findProgram: (name) => (["npm", "sh", "python3", "/usr/bin/env"].includes(name) ? `/usr/bin/${name}` : null),
};

const FILES: Readonly<Record<string, string>> = {
  "server.ts": "// server",
  "a b.txt": "",
  "package.json": '{"dependencies":{"zod":"^4.0.0"}}',
  "package-lock.json": "{}",
  "web/package.json": '{"dependencies":{"zod":"4.6.7","express":"^5.0.0"}}',
  "old/package.json": '{"dependencies":{"zod":"^3.2.0"}}',
  "dev/package.json": '{"devDependencies":{"vitest":"5"}}',
  "scripted/package.json": '{"scripts":{"postinstall":"node x"}}',
  "src/deep/a.js": "a",
  "src/b.js": "b",
  "files.tgz": "\x1f\x8b",
};

function tarOf(dockerfile: string): Promise<Uint8Array> {
  const tar = pack();
  for (const [name, text] of Object.entries({ ...FILES, Dockerfile: dockerfile })) {
    tar.entry({ name, mode: name.endsWith(".js") ? 0o755 : 0o644 }, Buffer.from(text, "latin1"));
  }
  tar.finalize();
  return buffer(tar);
}

function plan(dockerfile: string, here: Machine = machine): Promise<ImagePlan> {
  return planImage({ dockerfile: "Dockerfile", entries: async () => readContext(await tarOf(dockerfile)) }, here, {
    paths: ["node_modules/.bin/agent-env-front-end"],
    text: async () => "#!",
  });
}

const files = (made: ImagePlan, paths: readonly string[]): string[] => paths.filter((path) => made.tree.get(path)?.kind !== "file");

describe("P3 a Dockerfile that can be honoured", () => {
  test("becomes files, variables, a working folder and a command", async () => {
    const made = await plan(
      [
        "# syntax=docker/dockerfile:1",
        "ARG VERSION=24",
        "FROM node:${VERSION}-slim AS base",
        "LABEL a=b",
        "WORKDIR /app",
        "ENV A=1 B=\"two $A\" C='three $A'",
        "ENV D=$A-${MISSING:-none} OLD=x\\ y",
        "ENV LEGACY one two",
        "ARG MODE=fast",
        "ENV MODE=${MODE}",
        "COPY package*.json \\",
        "     # the lock file too",
        "     ./",
        "RUN npm ci --omit=dev",
        "COPY --chown=node:node src/ lib",
        "COPY --chmod=755 server.ts /usr/local/bin/serve",
        'COPY ["a b.txt", "/data/"]',
        "WORKDIR lib/deep",
        "USER node",
        "HEALTHCHECK CMD true",
        "EXPOSE 8000",
        'ENTRYPOINT ["node", "a.js"]',
        'CMD ["--port", "1"]',
      ].join("\n"),
    );
    expect(made.problems).toEqual([]);
    expect(made.notes).toEqual([
      "Dockerfile:14: RUN npm ci --omit=dev: skipped: agent-env's own installation has the packages",
      "Dockerfile:15: COPY --chown=node:node src/ lib: --chown is ignored: the files are yours",
      "Dockerfile:19: USER node: ignored: the process runs as you",
      "Dockerfile:20: HEALTHCHECK CMD true: ignored: servers are probed from outside",
    ]);
    expect(files(made, ["/app/package.json", "/app/package-lock.json", "/app/lib/b.js", "/app/lib/deep/a.js", "/data/a b.txt"])).toEqual(
      [],
    );
    expect(made.tree.get("/usr/local/bin/serve")).toMatchObject({ kind: "file", executable: true });
    expect([...made.packages]).toEqual([["/app/node_modules/zod", "/cli/node_modules/zod"]]);
    expect(made.workingFolders).toEqual(["/", "/app", "/app/lib/deep"]);
    expect(made.argv).toEqual(["node", "a.js", "--port", "1"]);
    expect(Object.fromEntries(made.environment)).toEqual({
      PATH: "\0",
      A: "1",
      B: "two ",
      C: "three $A",
      D: "1-none",
      OLD: "x y",
      LEGACY: "one two",
      MODE: "fast",
    });
  });

  const commands: [dockerfile: string, argv: string[]][] = [
    ["FROM node:24\nCMD node server.ts", ["/bin/sh", "-c", "node server.ts"]],
    ['FROM node\nENTRYPOINT node server.ts\nCMD ["ignored"]', ["/bin/sh", "-c", "node server.ts"]],
    ['FROM node:lts-slim\nCMD ["/usr/local/bin/node", "server.ts"]', ["node", "server.ts"]],
    ["FROM docker.io/library/python:3.11-slim\nCMD python -u server.py", ["/bin/sh", "-c", "python -u server.py"]],
    ["FROM debian:bookworm-slim\nCMD exec npm start", ["/bin/sh", "-c", "exec npm start"]],
    ['FROM agent-env/sdk:0.1.0\nCMD ["agent-env-front-end"]', ["agent-env-front-end"]],
    ['FROM node:24.21@sha256:00ff\nCOPY . /srv\nCMD ["/srv/src/b.js"]', ["/srv/src/b.js"]],
  ];
  test.each(commands)("%j starts %j", async (dockerfile, argv) => {
    const made = await plan(dockerfile);
    expect(made.problems).toEqual([]);
    expect(made.argv).toEqual(argv);
  });

  test("a site's front end needs two lines, and has the SDK's working folder and PATH", async () => {
    const made = await plan('FROM agent-env/sdk:0.1.0\nCMD ["agent-env-front-end"]');
    expect(made.workingFolders).toEqual(["/", "/app"]);
    expect(made.environment.get("PATH")).toBe("/node_modules/.bin:\0");
  });
});

describe("P3 a Dockerfile that cannot be honoured is refused with file, line, instruction and reason", () => {
  const END = '\nCMD ["node", "server.ts"]';
  const cases: [dockerfile: string, problem: string][] = [
    [
      `FROM node:24\nRUN apt-get update && \\\n  apt-get install -y curl${END}`,
      "2: RUN apt-get update && apt-get install -y curl: commands can't be run without Docker, only npm ci and npm install may be skipped",
    ],
    [
      `FROM node:24\nCOPY . .\nRUN npm install express${END}`,
      "3: RUN npm install express: commands can't be run without Docker, only npm ci and npm install may be skipped",
    ],
    [
      `FROM node:24\nCOPY . .\nRUN --mount=type=cache,target=/root npm ci${END}`,
      "3: RUN --mount=type=cache,target=/root npm ci: commands can't be run without Docker, only npm ci and npm install may be skipped",
    ],
    [`FROM node:24\nWORKDIR /app\nRUN ["npm", "ci"]${END}`, '3: RUN ["npm", "ci"]: there is no package.json in /app at this line'],
    [`FROM node:24\nCOPY web .\nRUN npm ci${END}`, "3: RUN npm ci: agent-env's own installation lacks express@^5.0.0"],
    [
      `FROM node:24\nCOPY old .\nRUN npm install${END}`,
      "3: RUN npm install: agent-env's own installation lacks zod@^3.2.0 (there is 4.6.7)",
    ],
    [`FROM node:24\nCOPY dev .\nRUN npm ci${END}`, "3: RUN npm ci: agent-env's own installation lacks vitest@5"],
    [`FROM node:24\nCOPY scripted .\nRUN npm ci${END}`, "3: RUN npm ci: the postinstall script of package.json would have to run"],
    [`FROM node:24 AS build\nFROM node:24${END}`, "2: FROM node:24: several stages can't be honoured without Docker"],
    [`FROM node:24\nCOPY --from=build /a /b${END}`, "2: COPY --from=build /a /b: several stages can't be honoured without Docker"],
    [`FROM node:24\nCOPY --exclude=a . .${END}`, "2: COPY --exclude=a . .: --exclude can't be honoured without Docker"],
    [`FROM node:24\nCOPY --chmod=u+x . .${END}`, "2: COPY --chmod=u+x . .: --chmod can be honoured only as an octal number"],
    [`FROM node:24\nADD https://example.com/x /x${END}`, "2: ADD https://example.com/x /x: a URL can't be fetched without Docker"],
    [`FROM node:24\nADD files.tgz /x${END}`, '2: ADD files.tgz /x: "files.tgz" is an archive, which ADD would unpack'],
    [`FROM node:24\nCOPY ../secret .${END}`, '2: COPY ../secret .: "../secret" leaves the build context'],
    [`FROM node:24\nCOPY missing* .${END}`, '2: COPY missing* .: nothing in the build context matches "missing*"'],
    [`FROM node:24\nCOPY server.ts /x\nCOPY src /x/y${END}`, '3: COPY src /x/y: "/x" is a file by then, and can\'t become a folder'],
    [`FROM node:24\nCOPY server.ts${END}`, "2: COPY server.ts: it needs a source and a destination"],
    [`FROM node:24\nCOPY <<EOF /x\nhello\nEOF${END}`, "2: COPY <<EOF /x: here-documents can't be honoured without Docker"],
    [
      `FROM node:24\nENV A=\${B%x}${END}`,
      '2: ENV A=${B%x}: a substitution other than ${name}, ${name:-default} and ${name:+other} in "${B%x}"',
    ],
    [`FROM node:24\nSHELL ["/bin/bash", "-c"]${END}`, '2: SHELL ["/bin/bash", "-c"]: it can\'t be honoured without Docker'],
    [`FROM node:24\nVOLUME /data${END}`, "2: VOLUME /data: it can't be honoured without Docker"],
    [
      `FROM --platform=linux/arm64 node:24${END}`,
      "1: FROM --platform=linux/arm64 node:24: a process can't be given another platform than this machine's",
    ],
    [`FROM node:26-slim${END}`, "1: FROM node:26-slim: it needs Node 26 or newer, and Node on this machine is 24.21.0"],
    [`FROM node:24.30${END}`, "1: FROM node:24.30: it needs Node 24.30 or newer, and Node on this machine is 24.21.0"],
    [
      "FROM python:3.13-slim\nCMD python x.py",
      "1: FROM python:3.13-slim: it needs Python 3.13 or newer, and Python on this machine is 3.11.7",
    ],
    ["FROM python:2.7\nCMD python x.py", "1: FROM python:2.7: it needs Python 2, and Python on this machine is 3.11.7"],
    [
      "FROM nginx:stable\nCMD node x",
      "1: FROM nginx:stable: without Docker only Node, Python and Debian images and agent-env/sdk can be stood in for",
    ],
    [
      "FROM ghcr.io/me/node:24\nCMD node x",
      "1: FROM ghcr.io/me/node:24: without Docker only Node, Python and Debian images and agent-env/sdk can be stood in for",
    ],
    [`FROM agent-env/sdk:9.9.9${END}`, "1: FROM agent-env/sdk:9.9.9: this agent-env brings agent-env/sdk:0.1.0 and no other version"],
    [`FROM agent-env/sdk${END}`, "1: FROM agent-env/sdk: this agent-env brings agent-env/sdk:0.1.0 and no other version"],
    ["FROM node:24\nCMD", "1: FROM node:24: neither CMD nor ENTRYPOINT says what to start, and the base image isn't asked"],
    ["FROM node:24\nCMD uvicorn app:app", "2: CMD uvicorn app:app: uvicorn isn't on this machine's PATH"],
    ['FROM node:24\nCMD ["./run.sh"]', '2: CMD ["./run.sh"]: ./run.sh isn\'t in the image'],
    ['FROM node:24\nCMD ["/opt/run"]', '2: CMD ["/opt/run"]: /opt/run is neither in the image nor on this machine'],
    ["LABEL a=b", "1: there is no FROM"],
    [`# escape=\`\nFROM node:24${END}`, "1: an escape character other than \\ can't be honoured without Docker"],
  ];
  test.each(cases)("%j", async (dockerfile, problem) => {
    expect((await plan(dockerfile)).problems).toEqual([`Dockerfile:${problem}`]);
  });

  test("all problems are reported together", async () => {
    const { problems } = await plan("FROM alpine\nRUN apk add x\nVOLUME /v\nCMD uvicorn");
    expect(problems.map((problem) => problem.split(":")[1])).toEqual(["1", "2", "3", "4"]);
  });

  test("of several stages the last one is asked what to start", async () => {
    const { problems } = await plan('FROM node:24 AS build\nCMD ["node", "build.js"]\nFROM nginx:stable');
    expect(problems).toEqual([
      "Dockerfile:3: FROM nginx:stable: several stages can't be honoured without Docker",
      "Dockerfile:3: FROM nginx:stable: neither CMD nor ENTRYPOINT says what to start, and the base image isn't asked",
    ]);
  });

  test("a Python image needs python3 here", async () => {
    const { problems } = await plan("FROM python:3.11\nCMD python x.py", { ...machine, python: async () => null, findProgram: () => null });
    expect(problems).toEqual([
      "Dockerfile:1: FROM python:3.11: python3 isn't on this machine's PATH",
      "Dockerfile:2: CMD python x.py: python3 isn't on this machine's PATH",
    ]);
  });
});
