const ROUNDS = roots(64, 1 / 3);
const START = roots(8, 1 / 2);

/** The SHA-256 of a text's UTF-8, in hex (FIPS 180-4). For names: what is made of one must be there at once, and the web's own takes a promise. */
export function sha256Hex(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new DataView(new ArrayBuffer((((bytes.length + 8) >> 6) + 1) << 6));
  for (const [at, byte] of bytes.entries()) padded.setUint8(at, byte);
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n);
  const state = Uint32Array.from(START);
  for (let at = 0; at < padded.byteLength; at += 64) addBlock(state, padded, at);
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function addBlock(state: Uint32Array, data: DataView, from: number): void {
  const words = new Uint32Array(64);
  for (let at = 0; at < 16; at++) words[at] = data.getUint32(from + at * 4);
  const word = (at: number): number => words[at] ?? 0;
  for (let at = 16; at < 64; at++) {
    const early = turned(word(at - 15), 7) ^ turned(word(at - 15), 18) ^ (word(at - 15) >>> 3);
    const late = turned(word(at - 2), 17) ^ turned(word(at - 2), 19) ^ (word(at - 2) >>> 10);
    words[at] = word(at - 16) + early + word(at - 7) + late;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let at = 0; at < 64; at++) {
    const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + (ROUNDS[at] ?? 0) + word(at);
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, at) => {
    state[at] = (state[at] ?? 0) + value;
  });
}

function turned(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by));
}

/** The first 32 bits behind the point of the roots of the first primes. */
function roots(count: number, power: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    let isPrime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) isPrime = false;
    if (isPrime) found.push(((n ** power % 1) * 2 ** 32) | 0);
  }
  return found;
}
