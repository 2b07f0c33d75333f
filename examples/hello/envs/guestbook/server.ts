import { environmentCard, html, jsonData, link, now, toolContext, WebsiteEnvironment, z } from "@agent-env/sdk";

const Entry = z.object({ author: z.string().min(1), text: z.string().min(1), at: z.string().default("") });
let entries: z.infer<typeof Entry>[] = [];

const site = new WebsiteEnvironment(environmentCard({ name: "guestbook" }));

site.page(
  "/",
  () => html`<!doctype html>
    <html lang="en">
      <head><meta charset="utf-8"><title>Guestbook</title></head>
      <body>
        <h1>Guestbook</h1>
        <ol>${entries.map(({ author, text, at }) => html`<li><b>${author}</b> wrote “${text}” <time>${at}</time></li>`)}</ol>
        <form method="post" action="${link("/sign")}">
          <input name="author" placeholder="Your name" required>
          <input name="text" placeholder="Your words" required>
          <button>Sign</button>
        </form>
      </body>
    </html>`,
);

site.app.post("/sign", async (c) => {
  const form = await c.req.formData();
  sign(String(form.get("author")), String(form.get("text")));
  return c.redirect(link("/"), 303);
});
site.app.get("/api/entries", (c) => c.json(entries));

site.tool("{environment_name}_sign", {
  description: "Writes an entry into the guestbook, in the caller's name.",
  input: { text: z.string().min(1).describe("What to write.") },
  run: ({ text }) => sign(toolContext().caller.role ?? "somebody", text),
});

site.tool("{environment_name}_read", {
  description: "Lists the entries of the guestbook, oldest first.",
  annotations: { readOnlyHint: true },
  output: z.array(Entry),
  run: () => entries,
});

site.data(
  jsonData(z.object({ entries: z.array(Entry) }), {
    reset: () => {
      entries = [];
    },
    add: (seed) => entries.push(...seed.entries),
    get: () => ({ entries }),
  }),
);

await site.serve();

function sign(author: string, text: string): string {
  entries.push(Entry.parse({ author, text, at: now().toISOString() }));
  return `${author} signed the guestbook.`;
}
