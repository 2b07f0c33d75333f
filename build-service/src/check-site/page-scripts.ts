import { z } from "zod";

/**
 * Runs in each page before its own scripts: notes who sets cookies and registers service workers, which the browser's own
 * records don't say. It changes nothing that a page can see of either.
 */
export const NOTING = `(() => {
  const notes = { cookies: [], workers: [] };
  Object.defineProperty(window, "agentEnvNotes", { value: notes });
  const stack = () => String(new Error().stack);
  const cookie = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
  Object.defineProperty(Document.prototype, "cookie", { ...cookie, set(text) {
    notes.cookies.push({ name: String(text).split("=")[0].trim(), stack: stack() });
    return cookie.set.call(this, text);
  } });
  const container = window.ServiceWorkerContainer && ServiceWorkerContainer.prototype;
  const register = container && container.register;
  if (register) container.register = function (script, ...options) {
    const note = { script: String(new URL(script, document.baseURI)), scope: null, failure: null, stack: stack() };
    const registered = register.call(this, script, ...options);
    note.done = registered.then((made) => { note.scope = made.scope; }, (error) => { note.failure = String(error); });
    notes.workers.push(note);
    return registered;
  };
})();`;

/** How long what a page registers may take. */
const WORKERS_MS = 3_000;
/** How long a page may take to do what the last answer has made it do. */
const IDLE_MS = 1_000;

/** What is to be known of a page once it is quiet. Shadow trees count: their links can be followed too. */
export const FACTS = `(async () => {
  const { cookies = [], workers = [] } = window.agentEnvNotes ?? {};
  await Promise.race([Promise.all(workers.map(({ done }) => done)), new Promise((resolve) => setTimeout(resolve, ${WORKERS_MS}))]);
  await new Promise((resolve) => window.requestIdleCallback(resolve, { timeout: ${IDLE_MS} }));
  const links = [];
  const look = (root) => root.querySelectorAll("*").forEach((element) => {
    if (element.matches("a[href], area[href]") && !element.hasAttribute("download") && typeof element.href === "string") links.push(element.href);
    if (element.shadowRoot) look(element.shadowRoot);
  });
  look(document);
  return {
    url: location.href,
    title: document.title,
    text: document.body?.innerText ?? "",
    links: [...new Set(links)],
    cookies,
    workers: workers.map(({ script, scope, failure, stack }) => ({ script, scope, failure, stack })),
    isHtml: document.contentType === "text/html",
    hasShim: "agentEnvPrefix" in window,
    hasPolicy: document.querySelector('meta[http-equiv="content-security-policy" i]') !== null,
  };
})()`;

/** What `FACTS` gives. A page may have changed anything that it is made with. */
export const PageFacts = z.object({
  url: z.string(),
  title: z.string(),
  text: z.string(),
  links: z.array(z.string()),
  cookies: z.array(z.object({ name: z.string(), stack: z.string() })),
  workers: z.array(z.object({ script: z.string(), scope: z.string().nullable(), failure: z.string().nullable(), stack: z.string() })),
  isHtml: z.boolean(),
  hasShim: z.boolean(),
  hasPolicy: z.boolean(),
});
export type PageFacts = z.infer<typeof PageFacts>;
