import { describe, expect, test } from "vitest";
import { certificatesBeyond, certificatesIn } from "./certificates.ts";
import { isDebian } from "./machine.ts";
import { sourceUris, withoutCredentials } from "./settings.ts";
import { settingsFiles } from "./stand-ins/debian.ts";

describe("apt's sources", () => {
  test("are read in both formats", () => {
    const text = [
      "# deb http://commented.example/debian bookworm main",
      "deb http://one.example/debian bookworm main",
      "deb [signed-by=/key.gpg arch=amd64] http://two.example/debian bookworm main",
      "deb-src http://sources.example/debian bookworm main",
      "Types: deb",
      "URIs: http://three.example/debian http://four.example/debian",
    ].join("\n");
    expect(sourceUris(text)).toEqual([
      "http://one.example/debian",
      "http://two.example/debian",
      "http://three.example/debian",
      "http://four.example/debian",
    ]);
  });
});

describe("no secret goes into a stand-in", () => {
  const addresses: [address: string | null, kept: string | null][] = [
    ["https://registry.example/npm/", "https://registry.example/npm/"],
    ["https://user:secret@registry.example/npm/", null],
    ["https://token@registry.example/npm/", null],
    ["no address", null],
    [null, null],
  ];
  test.each(addresses)("%s → %s", (address, kept) => expect(withoutCredentials(address)).toBe(kept));
});

describe("certificates", () => {
  const one = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  const two = "-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----";

  test("are read one by one, without what stands between them", () => {
    expect(certificatesIn(`# One\n${one}\n\n# Two\r\n${two.replaceAll("\n", "\r\n")}\r\n`)).toEqual([one, two]);
  });

  test("that Debian has are not taken over, and none twice", () => {
    expect(certificatesBeyond([one, two, two], [one])).toEqual([two]);
  });
});

describe("a stand-in's settings", () => {
  const packages = {
    mirror: "http://mirror.example/debian",
    securityMirror: "http://mirror.example/debian-security",
    aptProxy: null,
    pipIndex: null,
    npmRegistry: null,
  };
  const pathsOf = (files: readonly [path: string, text: string][]) => files.map(([path]) => path);

  test("are apt's alone on a machine that has no others", () => {
    const files = settingsFiles({ packages, certificates: [] });
    expect(pathsOf(files)).toEqual(["etc/apt/sources.list", "etc/apt/apt.conf.d/90stand-in", "etc/dpkg/dpkg.cfg.d/90stand-in"]);
    expect(files[0]?.[1]).toBe(
      "deb http://mirror.example/debian bookworm main\n" +
        "deb http://mirror.example/debian bookworm-updates main\n" +
        "deb http://mirror.example/debian-security bookworm-security main\n",
    );
  });

  test("hold the machine's registries and certificates", () => {
    const own = { ...packages, pipIndex: "https://pypi.example/simple", npmRegistry: "https://npm.example/" };
    expect(settingsFiles({ packages: own, certificates: ["PEM"] }).slice(3)).toEqual([
      ["etc/pip.conf", "[global]\nindex-url = https://pypi.example/simple\n"],
      ["usr/local/etc/npmrc", "registry=https://npm.example/\n"],
      ["usr/local/share/ca-certificates/machine-0.crt", "PEM\n"],
    ]);
  });
});

test("Debian is Debian itself, not what is made from it", () => {
  expect(isDebian('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n')).toBe(true);
  expect(isDebian("ID=ubuntu\nID_LIKE=debian\n")).toBe(false);
  expect(isDebian("")).toBe(false);
});
