// Runs at the end of `npm ci`, under the machine's own Node, however old: plain JavaScript with nothing new in it.
// Mends what an old npm or Node leaves out, so that everything that `npm run` and `npx` start is as the lock file says.
"use strict";
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const modules = path.join(__dirname, "..", "node_modules");
const link = path.join(modules, ".bin", "node");
const program = path.join(modules, `node-${process.platform}-${process.arch}`, "bin", "node");

/** Where npm 9 skips the Node package of the other architecture, it also removes the link that both packages have. */
function linkNode() {
  if (!fs.existsSync(link) && fs.existsSync(program)) fs.symlinkSync(path.relative(path.dirname(link), program), link);
}

/** npm leaves out optional packages that want a newer Node than its own, native parts of others among them. */
function addWhatWantsNewerNode() {
  const oldestThatGetsAll = 20;
  const npm = process.env["npm_execpath"];
  if (Number(process.versions.node.split(".")[0]) >= oldestThatGetsAll || npm === undefined || !fs.existsSync(program)) return;
  const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const ended = spawnSync(program, ["--no-deprecation", npm, "install", ...options], { stdio: "inherit", cwd: path.join(modules, "..") });
  if (ended.status !== 0) process.exit(1);
}

addWhatWantsNewerNode();
linkNode();
