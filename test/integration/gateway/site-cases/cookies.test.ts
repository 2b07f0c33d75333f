import { afterAll, describe, expect, test } from "vitest";
import { endHosts, HOSTS } from "../../../fixtures/gateway/hosts.ts";
import { fieldsNamed, shopSuite } from "../../../fixtures/gateway/shop.ts";
import { until } from "../../../fixtures/until.ts";

afterAll(endHosts);

describe.each(HOSTS)("cookies of a site on the $host host", ({ start }) => {
  const shop = shopSuite(start);

  const set = async (mode: "prefixed" | "hosted", ...cookies: string[]): Promise<string[]> => {
    shop.answers(
      (_request, response) =>
        void response
          .writeHead(
            200,
            cookies.flatMap((cookie) => ["set-cookie", cookie]),
          )
          .end(),
    );
    return fieldsNamed(await shop[mode]("/set"), "set-cookie");
  };
  const got = async (mode: "prefixed" | "hosted", cookie: string): Promise<string[]> => {
    shop.answers((_request, response) => void response.end());
    await shop[mode]("/get", { headers: { cookie } });
    const last = shop.frontend.received.at(-1);
    return last === undefined ? [] : fieldsNamed(last, "cookie");
  };

  test("N5 case 17 a Path is put under the prefix, once; without one there is nothing to do", async () => {
    const cookies = ["a=1", "b=1; Path=/", "c=1; path=/admin; HttpOnly", `d=1; Path=${shop.prefix}/x`];
    expect(await set("prefixed", ...cookies)).toEqual([
      "a=1",
      `b=1; Path=${shop.prefix}/`,
      `c=1; Path=${shop.prefix}/admin; HttpOnly`,
      `d=1; Path=${shop.prefix}/x`,
    ]);
    expect(await set("hosted", ...cookies)).toEqual(cookies);
  });

  test("N5 case 18 Domain goes; over plain http on this machine Secure does too, and /state says so", async () => {
    for (const mode of ["prefixed", "hosted"] as const)
      expect(await set(mode, "a=1; Domain=.shop.example; Secure; SameSite=None", "b=1; SameSite=Strict")).toEqual([
        "a=1; SameSite=Lax",
        "b=1; SameSite=Strict",
      ]);
    await until("the warning", 5_000, async () =>
      (await shop.warnings()).some((line) =>
        /^\d+ answers set a Secure cookie over plain http; it was stored without Secure \(last: GET \/set\)$/.test(line),
      ),
    );
  });

  test("N5 case 19 guarded names: under the prefix renamed both ways, on a host of its own untouched", async () => {
    const cookies = ["__Host-sid=1; Path=/; Secure", "__Secure-x=2; Path=/; Secure", "__HOST-y=3; Secure; Path=/"];
    expect(await set("hosted", ...cookies)).toEqual(cookies);
    expect(await set("prefixed", ...cookies)).toEqual([
      `agentenv-__Host-sid=1; Path=${shop.prefix}/`,
      `agentenv-__Secure-x=2; Path=${shop.prefix}/`,
      `agentenv-__HOST-y=3; Path=${shop.prefix}/`,
    ]);
    expect(await got("prefixed", "agentenv-__Host-sid=1; plain=2; agentenv-__Secure-x=a=b")).toEqual([
      "__Host-sid=1; plain=2; __Secure-x=a=b",
    ]);
    expect(await got("hosted", "__Host-sid=1; plain=2")).toEqual(["__Host-sid=1; plain=2"]);
  });

  test("N5 case 20 a guarded cookie of the origin's root is not the site's", async () => {
    expect(await got("prefixed", "__Host-other=1")).toEqual([]);
    expect(await got("prefixed", "a=1; __Host-other=1; b=2")).toEqual(["a=1; b=2"]);
  });
});
