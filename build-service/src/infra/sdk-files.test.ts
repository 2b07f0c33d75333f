import { expect, test } from "vitest";
import { sdkBaseFiles, sdkFiles } from "./sdk-files.ts";

test("P3 the paths that a preflight knows are those of the files that are laid out", async () => {
  expect(sdkBaseFiles.paths).toEqual([...(await sdkFiles()).keys()]);
  expect(await sdkBaseFiles.text("node_modules/@agent-env/sdk/package.json")).toContain('"name": "@agent-env/sdk"');
});
