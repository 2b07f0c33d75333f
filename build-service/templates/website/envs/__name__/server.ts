import { environmentCard, html, jsonData, link, now, toolContext, WebsiteEnvironment, z } from "@agent-env/sdk";

const Post = z.object({ title: z.string().min(1), text: z.string(), by: z.string().nullable(), at: z.string() });
let posts: z.infer<typeof Post>[] = [];

const site = new WebsiteEnvironment(environmentCard({ name: "__name__" }));

site.page(
  "/",
  () => html`<!doctype html>
    <html lang="en">
      <head><meta charset="utf-8"><title>__name__</title></head>
      <body>
        <h1>__name__</h1>
        ${posts.map(({ title, text, at }) => html`<article><h2>${title}</h2><time>${at}</time><p>${text}</p></article>`)}
        <form method="post" action="${link("/posts")}">
          <input name="title" placeholder="Title" required>
          <textarea name="text" placeholder="Text"></textarea>
          <button>Publish</button>
        </form>
      </body>
    </html>`,
);

site.app.post("/posts", async (c) => {
  const form = await c.req.formData();
  publish(String(form.get("title")), String(form.get("text")));
  return c.redirect(link("/"), 303);
});
site.app.get("/api/posts", (c) => c.json({ posts }));

site.tool("{environment_name}_publish", {
  description: "Publishes a post on the site.",
  input: { title: z.string().min(1).describe("The post's title."), text: z.string().default("").describe("Its text.") },
  run: ({ title, text }) => publish(title, text),
});

site.data(
  jsonData(z.object({ posts: z.array(Post) }), {
    reset: () => {
      posts = [];
    },
    add: (seed) => posts.push(...seed.posts),
    get: () => ({ posts }),
  }),
);

await site.serve();

function publish(title: string, text: string): string {
  posts.push(Post.parse({ title, text, by: toolContext().caller.role, at: now().toISOString() }));
  return `published ${title}`;
}
