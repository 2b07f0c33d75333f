import { describe, expect, test } from "vitest";
import { sourceOf } from "../../../infra/image-source.ts";
import { NoRoom } from "../provider.ts";
import { localProvider, noRoomOr } from "./provider.ts";

/** An error as dockerode throws it. */
const engineError = (statusCode: number, message: string): Error =>
  Object.assign(new Error(`(HTTP code ${statusCode}) server error - ${message} `), { statusCode });

describe("P1 an Engine without room for one more network", () => {
  const sentences = [
    "could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network",
    "all predefined address pools have been fully subnetted",
  ];
  test.each(sentences)("is known by its sentence: %s", (sentence) => {
    let thrown: unknown;
    try {
      noRoomOr(engineError(500, sentence));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(NoRoom);
    expect(thrown).toMatchObject({
      message: "the Docker Engine has no addresses left for one more network",
      why: sentence,
      next: "`agent-env gc`, `agent-env env stop <id>`, or `docker network prune` for networks that are not ours",
    });
  });

  test("isn't any other fault", () => {
    const other = engineError(500, "no space left on device");
    expect(() => noRoomOr(other)).toThrow(other);
  });
});

test("P1 an image whose Dockerfile needs BuildKit can't run here, and the reason starts with the file and the line", async () => {
  const source = sourceOf(new Map([["Dockerfile", "FROM scratch\nRUN --mount=type=secret,id=x true\n"]]));
  expect(await localProvider.imageProblems(source)).toEqual([
    "Dockerfile: line 2: RUN --mount needs BuildKit, and the Engine's classic builder is used",
  ]);
});
