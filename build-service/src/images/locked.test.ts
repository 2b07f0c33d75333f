// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are Dockerfiles
import { expect, test } from "vitest";
import { lockedDockerfile, repositoryOf } from "./locked.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test("a locked base is named by its digest wherever the Dockerfile names it, and all else stays", () => {
  const locked = new Map([
    ["python:3.12-slim", DIGEST],
    ["localhost:5000/tools", DIGEST],
    ["unused:1", DIGEST],
  ]);
  const text = [
    "# FROM python:3.12-slim",
    "ARG V=3.12",
    "FROM --platform=linux/amd64 python:${V}-slim AS base\r",
    "FROM node:24 AS second",
    "COPY --from=localhost:5000/tools:1 /x /y\nCOPY --chown=1 --from=localhost:5000/tools /python:3.12-slim /z",
    "FROM base",
    "RUN echo python:3.12-slim",
    "FROM python:3.12-slim",
  ].join("\n");
  expect(lockedDockerfile(text, locked)).toBe(
    [
      "# FROM python:3.12-slim",
      "ARG V=3.12",
      `FROM --platform=linux/amd64 python@${DIGEST} AS base\r`,
      "FROM node:24 AS second",
      `COPY --from=localhost:5000/tools:1 /x /y\nCOPY --chown=1 --from=localhost:5000/tools@${DIGEST} /python:3.12-slim /z`,
      "FROM base",
      "RUN echo python:3.12-slim",
      `FROM python@${DIGEST}`,
    ].join("\n"),
  );
});

test("a Dockerfile without a locked base is sent as it is", () => {
  expect(lockedDockerfile("FROM node:24\n", new Map([["node:24-slim", DIGEST]]))).toBeNull();
});

test.each([
  ["node", "node"],
  ["node:24", "node"],
  ["localhost:5000/a/b", "localhost:5000/a/b"],
  ["localhost:5000/a/b:1", "localhost:5000/a/b"],
  [`a/b:1@${DIGEST}`, "a/b"],
])("the repository of %s is %s", (reference, repository) => {
  expect(repositoryOf(reference)).toBe(repository);
});
