import type { Row, VerifierContext } from "@agent-env/sdk";

/** Keeps a note as a visitor does, by the page's form, and looks for tools where none should be. */
export async function verify(_mcpUrl: string, { fetch }: VerifierContext): Promise<Row[]> {
  const card = await (await fetch("/svc/notes/.well-known/agent-env.json")).text();
  const mcp = await fetch("/svc/notes/mcp", { method: "POST", body: "{}" });
  const page = await (await fetch("/website/notes/")).text();
  const form = new URLSearchParams({ text: "Call <Bob>." });
  const kept = await (await fetch("/website/notes/notes", { method: "POST", body: form })).text();
  return [
    {
      id: "no-tools",
      description: "the card lists no tools and no endpoint for them, and none is there",
      result: card.includes('"additionalInterfaces":[]') && card.includes('"tools":null') && mcp.status === 404,
    },
    { id: "seed", description: "the page shows the note that was loaded", result: page.includes("Buy tea.") },
    {
      id: "form",
      description: "the form keeps a note, and leads back to the page, which shows it",
      result: kept.includes("Call &lt;Bob&gt;."),
    },
  ];
}
