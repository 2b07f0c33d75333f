import { afterAll, describe, expect, test } from "vitest";
import { post } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS } from "../../fixtures/gateway/hosts.ts";
import { onAdd, slot, told, triggerSuite, write } from "../../fixtures/gateway/triggers.ts";

afterAll(endHosts);

describe.each(HOSTS)("G1 triggers on the $host host", ({ start }) => {
  const { add, register, running, state } = triggerSuite(start);

  test("V51 all or nothing: one bad trigger of two, the same again, the same id with other content", async () => {
    const good = { id: "t1", when: onAdd, actions: [write("x")] };
    const bad = { id: "t2", when: { type: "action", tool: "nope" }, actions: [] };
    expect(told(await register([good, bad]))).toEqual([400, { ok: false, error: 'trigger "t2": when.tool names unknown tool "nope"' }]);
    expect((await state()).triggers).toEqual([]);
    expect(told(await register([good]))).toEqual([200, { ok: true, added: ["t1"], all: ["t1"] }]);
    expect(told(await register([good]))).toEqual([200, { ok: true, added: ["t1"], all: ["t1"] }]);
    expect(told(await register([{ ...good, actions: [] }]))).toEqual([
      400,
      { ok: false, error: 'trigger "t1": already registered with another content: remove it first, or use a new id' },
    ]);
    const anonymous = (await register([{ when: onAdd, actions: [] }])).json() as { added: string[] };
    expect(anonymous.added).toEqual([expect.stringMatching(/^trg_[0-9a-f]{12}$/)]);
  });

  test("what is no trigger is refused, with where and why", async () => {
    const { gateway, agent } = running();
    const one = (when: unknown, actions: unknown = [], more: object = {}) => ({ triggers: [{ id: "t", when, actions, ...more }] });
    const executor = { a2a_url: agent.url, role: "helper" };
    const refused: [unknown, string][] = [
      ["{", "Invalid JSON body"],
      [[], "body must be a JSON object"],
      [{}, "triggers must be a list"],
      [{ triggers: "x" }, "triggers must be a list"],
      [one({ type: "zzz" }), 'trigger "t": when.type: type must be action, website, state or time'],
      [
        {
          triggers: [
            { when: onAdd, actions: [] },
            { when: { type: "zzz" }, actions: [] },
          ],
        },
        "triggers[1]: when.type: type must be action, website, state or time",
      ],
      [{ triggers: [{ id: "", when: onAdd, actions: [] }] }, "triggers[0]: a trigger's id must be a non-empty string"],
      [
        one({ ...onAdd, where: { title: { equals: 1, regex: "x" } } }),
        'trigger "t": when.where.title: a predicate must have exactly one of regex, equals, exists',
      ],
      [
        one({ ...onAdd, where: { title: { regex: "(?=x)" } } }),
        'trigger "t": when.where.title: regex "(?=x)" can\'t be read: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
      ],
      [one({ type: "website", app: "zz" }), 'trigger "t": when.app names unknown website "zz" (websites: ["shop"])'],
      [
        one({ type: "website", app: "shop", where: { "result.x": { exists: true } } }),
        'trigger "t": when.where["result.x"]: reads a result; a website\'s request has arguments alone',
      ],
      [one({ type: "time" }), 'trigger "t": when: needs at, after with offset, or every'],
      [one({ type: "time", after: "x", offset: "PT1S" }), 'trigger "t": when.after names unknown trigger "x"'],
      [one({ type: "time", every: "PT0S" }), 'trigger "t": when.every: must be a positive ISO 8601 duration'],
      [one(onAdd, [{ type: "tool", tool: "nope" }]), 'trigger "t": actions[0].tool names unknown tool "nope"'],
      [one(onAdd, [write("x", { as: "default" })]), 'trigger "t": actions[0].as: must be a literal role other than default'],
      [
        one(onAdd, [write(slot("nope.x"))]),
        `trigger "t": actions[0].args: ${slot("nope.x")} is no template here: it may begin with args, result`,
      ],
      [one(onAdd, [{ type: "nl", instruction: "do" }]), 'trigger "t": actions[0]: needs an executor, which isn\'t registered'],
      [one(onAdd, [{ type: "nl", instruction: slot("args.x") }]), 'trigger "t": actions[0].instruction: is never templated'],
      [
        one({ ...onAdd, roles: ["helper"] }, [{ type: "nl", instruction: "do" }]),
        'trigger "t": actions[0]: needs an executor, which isn\'t registered',
      ],
      [
        { ...one({ ...onAdd, roles: ["helper"] }, [{ type: "nl", instruction: "do" }]), executor },
        'trigger "t": actions[0]: goes to role "helper", which provokes this trigger',
      ],
      [{ triggers: [], executor, watch_roles: ["helper"] }, 'role "helper" is an executor\'s and watched'],
      [
        one({ type: "time", at: "PT1S" }, [], { barrier: { at: "provoking_call" } }),
        'trigger "t": barrier: only action and website triggers can hold back an answer',
      ],
      [
        one(onAdd, [write("x", { delay: "PT1S" })], { barrier: { at: "provoking_call" } }),
        'trigger "t": barrier: doesn\'t go with a delay',
      ],
    ];
    for (const [body, error] of refused) expect(told(await post(gateway, "/triggers/register", body))).toEqual([400, { ok: false, error }]);
    await add({ id: "t", when: onAdd, actions: [] });
    const conflict = "watch_roles is already registered otherwise: clear the triggers to change it";
    expect(told(await register([], { watch_roles: ["x"] }))).toEqual([400, { ok: false, error: conflict }]);
    for (const body of [{ ids: "t" }, {}, { ids: [1] }])
      expect(told(await post(gateway, "/triggers/remove", body))).toEqual([
        400,
        { ok: false, error: "ids must be a list of non-empty strings" },
      ]);
  });
});
