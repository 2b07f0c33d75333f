import { environmentCard, html, jsonData, link, now, WebsiteEnvironment, z } from "@agent-env/sdk";

const Note = z.object({ text: z.string().min(1), at: z.string() });
let notes: z.infer<typeof Note>[] = [];

const site = new WebsiteEnvironment(environmentCard({ name: "notes" }));
const visits = site.sessions(() => ({ count: 0 }));

site.page("/", (c) => {
  const visit = visits.of(c);
  visit.count++;
  return html`<!doctype html>
    <html lang="en">
      <head><meta charset="utf-8"><title>Notes</title></head>
      <body>
        <h1>Notes</h1>
        <ul>${notes.map(({ text, at }) => html`<li><time>${at}</time> ${text}</li>`)}</ul>
        <form method="post" action="${link("/notes")}">
          <textarea name="text" required></textarea>
          <button>Keep</button>
        </form>
        <footer>You were here ${visit.count} ${visit.count === 1 ? "time" : "times"}.</footer>
      </body>
    </html>`;
});

site.app.post("/notes", async (c) => {
  const form = await c.req.formData();
  notes.push(Note.parse({ text: form.get("text"), at: now().toISOString() }));
  return c.redirect(link("/"), 303);
});
site.app.get("/api/notes", (c) => c.json({ notes }));

site.data(
  jsonData(z.object({ notes: z.array(Note) }), {
    reset: () => {
      notes = [];
    },
    add: (seed) => notes.push(...seed.notes),
    get: () => ({ notes }),
  }),
);

await site.serve();
