import { isJsonObject, type JsonObject, ROLE_HEADER, ROLE_META_KEY, SESSION_META_KEY } from "@agent-env/protocol";
import { objectIn } from "./card-answer-checks.ts";
import { allOf, type Check, failed, passed, type Subject, skipped, type Verdict } from "./check.ts";
import type { Exchange } from "./http.ts";
import { mcpBehind, mcpReading, openTalk, toolNames } from "./mcp-reading.ts";
import { McpTalk, type Said } from "./mcp-talk.ts";
import { OTHER_ROLE, ROLE, ruleEndpoints } from "./rules.ts";
import { servicesOf } from "./services.ts";

/** What is promised of callers' roles (3-wire §mcp, §roles). */
export const ROLE_CHECKS: readonly Check[] = [
  {
    id: "role-accepted",
    group: "roles",
    level: "required",
    title: "requests that name a role and a session are answered like any other",
    async run(subject) {
      const mcp = await mcpReading(subject);
      if (mcp.is !== "open") return skipped("serves no MCP to ask in a role");
      // A gateway says the role itself, and lets few callers name one.
      const talk = await openTalk(subject, mcp.talk.path, subject.kind === "server" ? { [ROLE_HEADER]: ROLE } : {});
      const fix = `take ${ROLE_HEADER} and the keys ${ROLE_META_KEY} and ${SESSION_META_KEY} of _meta: gateways send them with every request`;
      if (!(talk instanceof McpTalk)) return failed(talk, { expected: "an answer to `initialize`", fix });
      const listed = await talk.listTools({ [ROLE_META_KEY]: ROLE, [SESSION_META_KEY]: "0123456789abcdef0123456789abcdef" });
      return "tools" in listed ? passed : failed(listed.failed, { expected: "the list of tools", fix });
    },
  },
  ruled({
    id: "role-rules",
    level: "required",
    title: "a tool that is disabled for a role is neither listed to it nor called by it, and others keep it",
    async verdict(subject, { disable, enable, path, tool }) {
      const name = String(tool["name"]);
      const rule = { role: ROLE, tools: [name] };
      const disabled = await subject.http.post(disable, rule);
      try {
        return await allOf([
          () => ruleVerdict(disabled, { name, enabled: false }),
          () => listVerdict(subject, path, { role: ROLE, name, listed: false }),
          () => listVerdict(subject, path, { role: OTHER_ROLE, name, listed: true }),
          () => callVerdict(subject, path, tool),
          async () => ruleVerdict(await subject.http.post(enable, rule), { name, enabled: true }),
          () => listVerdict(subject, path, { role: ROLE, name, listed: true }),
        ]);
      } finally {
        await subject.http.post(enable, rule);
      }
    },
  }),
  ruled({
    id: "role-rule-errors",
    level: "recommended",
    title: "a rule without a role or without tools is 400",
    verdict: ({ http }, { disable }) =>
      allOf(
        [{}, { role: "", tools: [] }, { role: ROLE }, { role: ROLE, tools: 5 }, [1]].map((body) => async () => {
          const answer = await http.post(disable, body);
          return answer.status === 400
            ? passed
            : failed(answer, { expected: "HTTP 400", fix: "refuse a body that names no role, or neither a list of tools nor *" });
        }),
      ),
  }),
  ruled({
    id: "role-forged",
    level: "required",
    title: "a role that the body of a message claims counts for nothing at the gateway",
    on: ["gateway"],
    async verdict(subject, { disable, enable }) {
      const found = await toolBehind(subject);
      if (found === null) return skipped("none of its servers lists a tool that can be called without harm");
      const name = String(found.tool["name"]);
      const rule = { role: ROLE, tools: [name] };
      await subject.http.post(disable, rule);
      try {
        const talk = await McpTalk.open(found.http, found.path, { [ROLE_HEADER]: ROLE });
        if (!(talk instanceof McpTalk)) return failed(talk, { expected: "an answer to `initialize`", fix: "pass MCP on under /svc" });
        const said = await talk.request("tools/call", { name, arguments: {} }, { [ROLE_META_KEY]: OTHER_ROLE });
        await talk.close();
        return refusedVerdict(said, name, "let the caller's role take the place of the one in _meta");
      } finally {
        await subject.http.post(enable, rule);
      }
    },
  }),
];

type Rules = { readonly disable: string; readonly enable: string; readonly path: string; readonly tool: JsonObject };

/** A check of whoever keeps rules: a gateway, or a server that lists both extensions. */
function ruled({
  verdict,
  ...check
}: Omit<Check, "group" | "changes" | "run"> & { verdict(subject: Subject, rules: Rules): Promise<Verdict> }): Check {
  return {
    on: ["server", "gateway"],
    ...check,
    group: "roles",
    changes: true,
    async run(subject) {
      const endpoints = ruleEndpoints(subject.card);
      if (endpoints === null) return skipped("lists no disable-tool/v1 and enable-tool/v1");
      const mcp = await mcpReading(subject);
      if (mcp.is !== "open") return skipped("serves no MCP whose tools rules could be about");
      const tool = mcp.tools.find(isHarmless);
      if (tool === undefined) return skipped("lists no tool that can be called without harm");
      const allowed = await subject.http.post(endpoints.disable, {});
      if (allowed.status === 401 || allowed.status === 403) return skipped("the token may not set rules (scope control)");
      return await verdict(subject, { ...endpoints, path: mcp.talk.path, tool });
    },
  };
}

/** A tool that does nothing when it is called with `{}`: it only reads, or it needs arguments. */
function isHarmless({ annotations, inputSchema }: JsonObject): boolean {
  const required = isJsonObject(inputSchema) ? inputSchema["required"] : undefined;
  return (isJsonObject(annotations) && annotations["readOnlyHint"] === true) || (Array.isArray(required) && required.length > 0);
}

/** What the role's rules say of the tool after one was set; it may have others. */
function ruleVerdict(answer: Exchange, { name, enabled }: { readonly name: string; readonly enabled: boolean }): Verdict {
  const { role, disabled, allowed } = objectIn(answer.text) ?? {};
  const [holds, holdsNot] = enabled ? [allowed, disabled] : [disabled, allowed];
  const isSet = Array.isArray(holds) && holds.includes(name) && Array.isArray(holdsNot) && !holdsNot.includes(name);
  if (answer.status === 200 && role === ROLE && isSet) return passed;
  const said = { role: ROLE, disabled: enabled ? [] : [name], allowed: enabled ? [name] : [] };
  return failed(answer, { expected: `HTTP 200 ${JSON.stringify(said)}`, fix: "answer with the role's own rules, sorted" });
}

type InList = { readonly role: string; readonly name: string; readonly listed: boolean };

async function listVerdict({ http }: Subject, path: string, { role, name, listed }: InList): Promise<Verdict> {
  const talk = await McpTalk.open(http, path, { [ROLE_HEADER]: role });
  if (!(talk instanceof McpTalk)) return failed(talk, { expected: "an answer to `initialize`", fix: `take ${ROLE_HEADER}` });
  const tools = await talk.listTools();
  await talk.close();
  if ("failed" in tools) return failed(tools.failed, { expected: "the list of tools", fix: `take ${ROLE_HEADER}` });
  if (toolNames(tools.tools).includes(name) === listed) return passed;
  return failed(tools.exchange, {
    expected: `${listed ? "" : "no "}${name} in what role ${role} is listed`,
    got: `tools ${JSON.stringify(toolNames(tools.tools))}`,
    fix: "let a rule hold for its role alone, at once, in tools/list as well",
  });
}

async function callVerdict({ http }: Subject, path: string, tool: JsonObject): Promise<Verdict> {
  const name = String(tool["name"]);
  const talk = await McpTalk.open(http, path, { [ROLE_HEADER]: ROLE });
  if (!(talk instanceof McpTalk)) return failed(talk, { expected: "an answer to `initialize`", fix: `take ${ROLE_HEADER}` });
  const said = await talk.request("tools/call", { name, arguments: {} });
  await talk.close();
  return refusedVerdict(said, name, "let a rule hold for calls as well: whoever isn't listed a tool may still name it");
}

/** A refusal by role: of a gateway by its text, of a server by its code (3-wire §tools 5, §mcp). */
function refusedVerdict({ exchange, reply }: Said, name: string, fix: string): Verdict {
  const result = isJsonObject(reply?.["result"]) ? reply["result"] : {};
  const text = `Tool '${name}' is disabled for role '${ROLE}'`;
  const isRefused = exchange.text.includes(text) || exchange.text.includes("permission_denied");
  if (result["isError"] === true && isRefused) return passed;
  return failed(exchange, { expected: `a result with isError: true and the text ${JSON.stringify(text)}`, fix });
}

/** The first harmless tool of a server behind the gateway, and where that server's MCP is under `/svc`. */
async function toolBehind({ http, card }: Subject): Promise<{ http: Subject["http"]; path: string; tool: JsonObject } | null> {
  for (const { key } of servicesOf(card)) {
    const behind = await mcpBehind(http, key);
    const tool = behind?.tools.find(isHarmless);
    if (behind !== null && tool !== undefined) return { ...behind, tool };
  }
  return null;
}
