import { expect, test } from "vitest";
import { placePaths } from "./image-paths.ts";
import { ImageTree } from "./tree.ts";

const tree = new ImageTree();
tree.put("/app/server.js", { kind: "folder" });
tree.put("/usr/local/bin/serve", { kind: "folder" });
const image = { tree, workingFolders: ["/", "/app"] };

test.each([
  ["/app/server.js", "/r/app/server.js"],
  ["node /app/server.js --data=/app/data", "node /r/app/server.js --data=/r/app/data"],
  ["/app:/app/lib:/usr/lib", "/r/app:/r/app/lib:/usr/lib"],
  ["'/usr/local/bin/serve' /usr/bin/env", "'/r/usr/local/bin/serve' /usr/bin/env"],
  ["/application /", "/application /"],
  ["http://host/app", "http://host/app"],
  ["/app/../etc/passwd", "/app/../etc/passwd"],
  ["./app/x app/x", "./app/x app/x"],
])("%j of an image is %j here", (text, placed) => {
  expect(placePaths(text, image, "/r")).toBe(placed);
});
