import type { SiteMode, SitePlace } from "@agent-env/protocol";

/** What made the browser send a request: markup, a style sheet, a script, a server's redirect, or the browser itself. */
export type SentBy = "markup" | "style" | "script" | "redirect" | "browser";

/** A request of a page. Places name files by their URL. */
export type Sent = {
  readonly method: string;
  readonly url: string;
  /** As Chromium calls it: `document`, `script`, `stylesheet`, `image`, `font`, `fetch`, `xhr`, `eventsource`, … */
  readonly type: string;
  /** The page itself, and no frame in it. */
  readonly isPage: boolean;
  readonly by: SentBy;
  readonly at: SitePlace | null;
  readonly status: number | null;
  /** Chromium's word for why there was no answer. */
  readonly failure: string | null;
  readonly mime: string;
  readonly redirectTo: string | null;
  /** Its answer has a Content-Security-Policy. */
  readonly hasPolicy: boolean;
};

/** An error that the page's console shows, or a promise that nobody handled. */
export type Trouble = { readonly text: string; readonly at: SitePlace | null };

export type Socket = {
  readonly url: string;
  readonly at: SitePlace | null;
  readonly by: SentBy;
  /** The answer to the handshake. */
  readonly status: number | null;
  readonly failure: string | null;
};

/** A service worker that a page registered, or wanted to. */
export type Worker = {
  readonly script: string;
  readonly scope: string | null;
  readonly failure: string | null;
  readonly at: SitePlace | null;
};

/** A cookie that a page's script has set. */
export type ScriptCookie = { readonly name: string; readonly at: SitePlace | null };

export type Cookie = { readonly name: string; readonly path: string; readonly host: string };

/** What a line of an act script has left is named by the line where pages are named by their paths. */
export const actKey = (line: number): string => `line ${line}`;

/** Whether a page's key is a path, and no act's line. */
export const isPath = (key: string): boolean => key.startsWith("/");

/** One page as it was opened, or as one line of an act script left it. */
export type PageRecord = {
  /** What tells it from others in both modes: its path, or the act's line. */
  readonly key: string;
  /** The site's path, for messages. */
  readonly path: string;
  readonly status: number | null;
  /** Why it could not be opened. */
  readonly failure: string | null;
  readonly title: string;
  /** The visible text, a line each. */
  readonly text: readonly string[];
  /** Where its links lead, as whole URLs. */
  readonly links: readonly string[];
  readonly sent: readonly Sent[];
  readonly troubles: readonly Trouble[];
  readonly sockets: readonly Socket[];
  readonly workers: readonly Worker[];
  readonly scriptCookies: readonly ScriptCookie[];
  /** The gateway's script is in it. */
  readonly hasShim: boolean;
  /** It is HTML, with a Content-Security-Policy. */
  readonly hasPolicy: boolean;
};

/** A site as it was walked in one mode. */
export type WalkRecord = {
  readonly mode: SiteMode;
  readonly base: string;
  readonly pages: readonly PageRecord[];
  /** As they were stored at the end. */
  readonly cookies: readonly Cookie[];
  readonly cutShort: string | null;
  readonly seconds: number;
};
