import { html } from "hono/html";

const ITEMS = Array.from({ length: 40 }, (_, at) => ({ id: at, name: `Item <${at}> & more`, price: at * 3.5 }));

/** A page of 5 kB with texts that have to be escaped, made anew for each view. */
export function catalogue() {
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body><h1>Shop</h1><ul>
${ITEMS.map(({ id, name, price }) => html`<li><a href="items/${id}" title="${name}">${name}</a> <b>${price.toFixed(2)}</b> <i>in stock</i></li>\n`)}</ul></body></html>\n`;
}

/** What the tool of both says. */
export function echoed(message: string): string {
  return `Echo: ${message}`;
}
