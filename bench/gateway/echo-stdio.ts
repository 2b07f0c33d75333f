import { createInterface } from "node:readline";
import { echoAnswer } from "./echo-tool.ts";

/** The same tool as a program, for gateways that know no other servers. */
createInterface({ input: process.stdin }).on("line", (line) => {
  const answer = echoAnswer(JSON.parse(line));
  if (answer !== null) process.stdout.write(`${answer}\n`);
});
