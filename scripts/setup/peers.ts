import { npmPackages } from "./npm-packages.ts";

/** Servers and clients of others from npm, for the tests that run them. */
const interop = npmPackages({
  name: "peers",
  tiers: ["interop"],
  folder: new URL("../../test/interop/peers/", import.meta.url),
  shown: "test/interop/peers",
});

/** Gateways of others from npm, which ours is measured against. */
const bench = npmPackages({
  name: "gateways",
  tiers: [],
  folder: new URL("../../bench/gateway/npm-peers/", import.meta.url),
  shown: "bench/gateway/npm-peers",
});

/** Development servers of others from npm, for the long form of the browser tests. */
const dev = npmPackages({
  name: "dev-servers",
  tiers: [],
  folder: new URL("../../test/browser/dev-servers/", import.meta.url),
  shown: "test/browser/dev-servers",
});

export const { part: peers, file: peerFile } = interop;
export const { part: benchPeers, file: benchPeerFile } = bench;
export const { part: devServers, file: devServerFile } = dev;
