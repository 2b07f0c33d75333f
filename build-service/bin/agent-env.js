#!/usr/bin/env node
// Plain JavaScript with nothing new in it, so that an old Node can still read it and say what is wrong.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `agent-env: this is Node ${process.versions.node}, and 22.18 or newer is needed, which runs TypeScript as it is\n` +
      "  Next: npx agent-env … (npm brings a newer Node with the package)\n",
  );
  process.exit(2);
}

// Compiled code and stripped types are kept in the system's temporary folder: half of a command's start.
const { enableCompileCache } = await import("node:module");
enableCompileCache();

const { main } = await import("../src/cli/main.ts");
await main(process.argv.slice(2));
