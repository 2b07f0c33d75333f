import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

// The least that has to be done to know that no file of a folder has changed: the peer of the bench `dry-run`.
const [folder = "."] = process.argv.slice(2);
const whole = createHash("sha256");
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (entry.isFile())
    whole.update(
      createHash("sha256")
        .update(readFileSync(join(entry.parentPath, entry.name)))
        .digest(),
    );
}
process.stdout.write(`${whole.digest("hex")}\n`);
