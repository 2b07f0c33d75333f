import { Card } from "@agent-env/protocol";

/** A server behind a gateway: its key under `/svc`, and its card's name. */
export type Service = { readonly key: string; readonly name: string };

/** The servers that a gateway's card names, by where it puts their data plane (3-wire §composed). */
export function servicesOf({ children_environments }: Card): Service[] {
  return (children_environments ?? []).flatMap((child) => {
    const card = Card.safeParse(child).data;
    const key = card === undefined ? undefined : /^\/svc\/([^/]+)\//.exec(card.url)?.[1];
    return card === undefined || key === undefined ? [] : [{ key, name: card.name }];
  });
}

/** What is checked instead of a site's page at a gateway, `https://host/d/x/website/shop/cart`: `https://host/d/x/svc/shop`; null for any other. */
export function serviceOfPage(base: string): string | null {
  const match = /^(https?:\/\/[^/]+(?:\/.*?)?)\/website\/([^/]+)(?:\/|$)/.exec(base);
  return match?.[1] === undefined || match[2] === undefined ? null : `${match[1]}/svc/${match[2]}`;
}

/** The gateway and the key in an address like `https://host/d/x/svc/shop`; null for any other. */
export function serviceAddress(base: string): { readonly gateway: string; readonly key: string } | null {
  const match = /^(https?:\/\/[^/]+(?:\/.*)?)\/svc\/([^/]+)\/?$/.exec(base);
  return match?.[1] === undefined || match[2] === undefined ? null : { gateway: match[1], key: match[2] };
}
