/** In which forms a client takes an answer. */
export type Forms = { readonly json: boolean; readonly sse: boolean };

/** What was read last: a client says the same with every request. */
let last: { readonly accept: string | undefined; readonly forms: Forms } | undefined;

/** Reads `Accept` leniently: missing and `*` mean both (6-mcp §11). */
export function acceptedForms(accept: string | undefined): Forms {
  if (last === undefined || last.accept !== accept) last = { accept, forms: formsIn(accept) };
  return last.forms;
}

function formsIn(accept: string | undefined): Forms {
  if (accept === undefined || accept.trim() === "") return { json: true, sse: true };
  const ranges = accept
    .split(",")
    .map(rangeOf)
    .filter(({ quality }) => quality > 0);
  const takes = (type: string) => {
    const [major = ""] = type.split("/");
    return ranges.some((range) => range.type === "*/*" || range.type === `${major}/*` || range.type === type);
  };
  return { json: takes("application/json"), sse: takes("text/event-stream") };
}

/** Whether a `Content-Type` is `application/json`, with any parameters, in any case. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType?.split(";")[0]?.trim().toLowerCase() === "application/json";
}

function rangeOf(range: string): { type: string; quality: number } {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
}
