// Runs at the end of `npm ci`, under the machine's own Node, however old: plain JavaScript with nothing new in it.
// Where npm skips the Node package of the other architecture, npm 9 (Debian 12's) also removes `.bin/node`, the link that
// both packages have. Newer ones keep it, and this does nothing.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const modules = path.join(__dirname, "..", "node_modules");
const program = path.join("..", `node-${process.platform}-${process.arch}`, "bin", "node");
const link = path.join(modules, ".bin", "node");

if (!fs.existsSync(link) && fs.existsSync(path.join(modules, ".bin", program))) fs.symlinkSync(program, link);
