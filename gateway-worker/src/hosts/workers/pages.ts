import type { PageCaller, Pages } from "../../core/auth/pages.ts";
import type { DeploymentObject } from "./deployment-object.ts";

const MAX_OPENED = 10_000;

/** Cookies that were good, by deployment and value, until they expire: each page has many parts. */
const opened = new Map<string, PageCaller>();

/** Pages that the deployment's object opens. */
export function pagesBy(object: DurableObjectStub<DeploymentObject>, deployment: string): Pages {
  return {
    redeem: (page) => object.redeemPage(deployment, page),
    async open(value) {
      const key = `${deployment} ${value}`;
      const known = opened.get(key);
      if (known !== undefined && known.expiresMs > Date.now()) return known;
      opened.delete(key);
      const caller = await object.openPage(deployment, value);
      if (caller === null) return null;
      const [oldest] = opened.keys();
      if (opened.size >= MAX_OPENED && oldest !== undefined) opened.delete(oldest);
      opened.set(key, caller);
      return caller;
    },
  };
}
