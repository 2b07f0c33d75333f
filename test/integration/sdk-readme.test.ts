import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run } from "../../scripts/setup/command.ts";
import { markdownPage } from "../fixtures/doc-page.ts";
import { laidOut } from "../fixtures/sdk/laid-out.ts";

const { files, lines } = markdownPage("sdk/README.md");

test("sdk/README.md: its tests pass with its environments", async () => {
  using folder = await laidOut(files);
  expect(lines[1]).toBe("node --test");
  const ended = await run(process.execPath, ["--test", "--test-reporter=tap"], { cwd: folder.app, env: {}, budgetSeconds: 60 });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(/^# tests (\d+)$/m.exec(ended.stdout)?.[1]).toBe("5");
});

test("sdk/README.md: what it installs is the SDK and all its peers", () => {
  const manifest = JSON.parse(readFileSync(fileURLToPath(new URL("../../sdk/package.json", import.meta.url)), "utf8"));
  const [npm, install, ...names] = lines[0]?.split(" ") ?? [];
  expect([npm, install]).toEqual(["npm", "install"]);
  expect(names.toSorted()).toEqual(["@agent-env/sdk", ...Object.keys(manifest.peerDependencies)].toSorted());
});
