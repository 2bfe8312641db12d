// SHA-256 of a text, in hexadecimal: core reaches no module of the machine, and a code that is only to be recognised is
// not kept as it is. Pure.

const primes = firstPrimes(64);
const initial: readonly number[] = primes.slice(0, 8).map((prime) => fraction(prime ** (1 / 2)));
const round: readonly number[] = primes.map((prime) => fraction(prime ** (1 / 3)));

export function sha256(text: string): string {
  const blocks = padded(new TextEncoder().encode(text));
  const state = [...initial];
  for (let at = 0; at < blocks.byteLength; at += 64) mix(state, new DataView(blocks.buffer, at, 64));
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** A one, zeros, and the length in bits fill the last block. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  new DataView(whole.buffer).setBigUint64(whole.length - 8, BigInt(bytes.length) * 8n);
  return whole;
}

function mix(state: number[], block: DataView): void {
  const words = Array.from({ length: 16 }, (_, i) => block.getInt32(i * 4));
  for (let i = 16; i < 64; i++) {
    const [a, b, c, d] = [words[i - 15] ?? 0, words[i - 2] ?? 0, words[i - 16] ?? 0, words[i - 7] ?? 0];
    const low = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
    const high = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
    words.push((c + low + d + high) | 0);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (const [i, word] of words.entries()) {
    const one = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = (h + one + ((e & f) ^ (~e & g)) + (round[i] ?? 0) + word) | 0;
    const two = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const second = (two + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = ((state[i] ?? 0) + word) | 0;
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The first 32 bits behind the point. */
function fraction(number: number): number {
  return ((number % 1) * 2 ** 32) | 0;
}

function firstPrimes(count: number): readonly number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}
