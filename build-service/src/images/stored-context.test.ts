import { buffer } from "node:stream/consumers";
import { type Header, pack } from "tar-stream";
import { describe, expect, test } from "vitest";
import { readContext } from "./stored-context.ts";

async function tarOf(header: Pick<Header, "name"> & Partial<Header>): Promise<Uint8Array> {
  const tar = pack();
  tar.entry(header, "");
  tar.finalize();
  return buffer(tar);
}

describe("a stored context that somebody else made is refused whole", () => {
  const LEAVES = "leaves the folder that it is unpacked into, or isn't written plainly";
  test.each<[Pick<Header, "name"> & Partial<Header>, string]>([
    [{ name: "../a" }, `"../a", which ${LEAVES}`],
    [{ name: "a/../../b" }, `"a/../../b", which ${LEAVES}`],
    [{ name: "/etc/passwd" }, `"/etc/passwd", which ${LEAVES}`],
    [{ name: "a//b" }, `"a//b", which ${LEAVES}`],
    [{ name: "a", type: "link", linkname: "b" }, '"a", which is a link, and a context holds files, folders and symbolic links'],
    [{ name: "a", type: "fifo" }, '"a", which is a fifo, and a context holds files, folders and symbolic links'],
  ])("%j", async (header, text) => {
    await expect(readContext(await tarOf(header))).rejects.toMatchObject({
      message: `the stored build context holds ${text}`,
      why: "no context that agent-env writes holds such an entry",
    });
  });
});
