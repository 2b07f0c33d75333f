import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha256Hex } from "./sha256.ts";

test("gives what the platform's own gives, for texts of every length about a block", () => {
  const texts = ["", "abc", "süß \u{1f600}", ...Array.from({ length: 140 }, (_, length) => "x".repeat(length))];
  for (const text of texts) expect(sha256Hex(text)).toBe(createHash("sha256").update(text).digest("hex"));
});
