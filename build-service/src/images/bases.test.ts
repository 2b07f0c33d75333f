import { describe, expect, test } from "vitest";
import { dockerfileFacts } from "./bases.ts";

describe("the base images of a Dockerfile", () => {
  const cases: [string, string, string[]][] = [
    ["one base", "FROM python:3.12-slim\nCOPY . .\n", ["python:3.12-slim"]],
    ["scratch is none", "FROM scratch\nCOPY a /\n", []],
    [
      "stages are none, in any case",
      "FROM node:24 AS Build\nFROM build\nFROM nginx\nCOPY --from=BUILD a b\nCOPY --from=0 a b\n",
      ["node:24", "nginx"],
    ],
    ["an image in --from", "FROM scratch\nCOPY --from=nginx:stable /etc /etc\n", ["nginx:stable"]],
    ["ARG defaults apply, through each other", `ARG V=3.12\nARG BASE=python:\${V}-slim\nFROM $BASE\n`, ["python:3.12-slim"]],
    ["a word of its own", `ARG V\nFROM node:\${V:-24}\nFROM debian\${V:+:$V}\n`, ["node:24", "debian"]],
    ["what can't be resolved is left out", `ARG BASE\nFROM \${BASE}\n`, []],
    ["named twice, listed once", "FROM debian AS a\nFROM debian\n", ["debian"]],
    [
      "behind a platform and a digest",
      `FROM --platform=linux/amd64 debian@sha256:${"a".repeat(64)}\n`,
      [`debian@sha256:${"a".repeat(64)}`],
    ],
    ["an ARG of a stage doesn't reach FROM", "FROM debian\nARG B=nginx\nFROM $B\n", ["debian"]],
  ];
  test.each(cases)("%s", (_name, text, bases) => {
    expect(dockerfileFacts(text).bases).toEqual(bases);
  });
});

describe("a Dockerfile that needs BuildKit says where", () => {
  const cases: [string, string[]][] = [
    ["FROM a\nRUN --mount=type=cache,target=/x make\n", ["line 2: RUN --mount needs BuildKit"]],
    ["FROM a\n\nRUN <<EOF\necho hi\nEOF\n", ["line 3: RUN with a here-document needs BuildKit"]],
    ["FROM a\nCOPY --chmod=755 a b\nCOPY --link a b\n", ["line 2: COPY --chmod needs BuildKit", "line 3: COPY --link needs BuildKit"]],
    ["FROM a\nRUN echo $((1<<N)) <<<word && cat <<\nCOPY --chown=1 --from=x a b\n", []],
    ["# syntax=docker/dockerfile:1\nFROM a\nRUN make\n", []],
  ];
  test.each(cases)("%j", (text, reasons) => {
    expect(dockerfileFacts(text).needsBuildKit).toEqual(reasons);
  });
});
