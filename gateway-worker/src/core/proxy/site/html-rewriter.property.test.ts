import fc from "fast-check";
import { expect, test } from "vitest";
import { holds, PROPERTY } from "../../../../../test/fixtures/property.ts";
import { HtmlRewriter } from "./html-rewriter.ts";
import { latin1Bytes, latin1Text } from "./latin1.ts";
import { ALLOWED } from "./policy.ts";

function rewritten(chunks: readonly string[]): string {
  const place = { outerOrigin: "http://localhost", prefix: "/website/shop", path: "/", origins: [] };
  const rewriter = new HtmlRewriter(place, { policy: ALLOWED, found: () => undefined });
  return [...chunks.map((chunk) => rewriter.write(latin1Bytes(chunk))), rewriter.end()].map(latin1Text).join("");
}

const part = fc.constantFrom(
  '<a href="/x">',
  "<img srcset='/a 1x, /b 2x'>",
  "<style>a{b:url(/c)}</style>",
  "<script>'</p>'</script>",
  "<!-- < -->",
  "text < & \u00e9",
  "<svg><title/></svg>",
  "<p style='x:url(/y)'>",
  "</p>",
  "<meta http-equiv=refresh content='1;/z'>",
  "<",
  "<b",
  '"',
  "<head>",
  "</head>",
);

test("N5 case 27 a page is rewritten the same in whatever pieces it comes", PROPERTY, async () => {
  const property = fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 6 }), (parts, cuts) => {
    const page = parts.join("");
    const at = [0, ...cuts.map((cut) => cut % (page.length + 1)).sort((a, b) => a - b), page.length];
    expect(rewritten(at.slice(1).map((end, index) => page.slice(at[index], end)))).toBe(rewritten([page]));
  });
  await holds(property, 3_000);
});

test("N5 case 27 a page without a URL keeps every byte", PROPERTY, async () => {
  const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
  const markup = fc.constantFrom(
    "<a href=",
    "<style>url(",
    "</style>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    '"',
    "'",
    ">",
    "<",
    "&#x2F;",
  );
  const property = fc.property(fc.array(fc.oneof(byte, markup)), (parts) => {
    const page = `<p>${parts.join("").replaceAll("/", "").replaceAll("&#x2F;", "")}`;
    expect(rewritten([page])).toBe(page);
  });
  await holds(property, 3_000);
});
