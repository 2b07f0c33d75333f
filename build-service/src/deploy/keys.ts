import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PublicKey, TOKEN_ALGORITHM } from "@agent-env/protocol";
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import { z } from "zod";

/** A deployment's key with its private part, as it lies in the state folder and nowhere else. */
const PrivateKey = PublicKey.extend({ d: z.string().min(1) });
export type PrivateKey = z.infer<typeof PrivateKey>;

/** Draws a deployment's key pair: the private key goes to the state folder, for its owner's eyes alone; gives the public one. */
export async function drawKey(stateDir: string, deploymentId: string): Promise<PublicKey> {
  const { privateKey } = await generateKeyPair(TOKEN_ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const key = PrivateKey.parse({ ...jwk, kid: await calculateJwkThumbprint(jwk) });
  await mkdir(keysFolder(stateDir), { recursive: true, mode: 0o700 });
  await writeFile(keyFile(stateDir, deploymentId), `${JSON.stringify(key)}\n`, { mode: 0o600, flag: "wx" });
  return PublicKey.parse(key);
}

/** A deployment's private key; null where this state folder has none. */
export async function readKey(stateDir: string, deploymentId: string): Promise<PrivateKey | null> {
  const text = await ifThere(readFile(keyFile(stateDir, deploymentId), "utf8"));
  return text === null ? null : PrivateKey.parse(JSON.parse(text));
}

/** The deployments whose private keys lie in this state folder, and when each was drawn. */
export async function drawnKeys(stateDir: string): Promise<{ readonly deploymentId: string; readonly drawnAt: Date }[]> {
  const names = (await ifThere(readdir(keysFolder(stateDir)))) ?? [];
  const drawn = names.map(async (name) => {
    const deploymentId = /^([a-z0-9-]+)\.json$/.exec(name)?.[1];
    const file = deploymentId === undefined ? null : await ifThere(stat(join(keysFolder(stateDir), name)));
    return deploymentId === undefined || file === null ? [] : [{ deploymentId, drawnAt: file.mtime }];
  });
  return (await Promise.all(drawn)).flat();
}

/** Removes a deployment's private key. Fine when it is gone. */
export async function forgetKey(stateDir: string, deploymentId: string): Promise<void> {
  await rm(keyFile(stateDir, deploymentId), { force: true });
}

async function ifThere<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

const keysFolder = (stateDir: string): string => join(stateDir, "keys");

function keyFile(stateDir: string, deploymentId: string): string {
  if (!/^[a-z0-9-]+$/.test(deploymentId)) throw new Error(`${JSON.stringify(deploymentId)} is no deployment id`);
  return join(keysFolder(stateDir), `${deploymentId}.json`);
}
