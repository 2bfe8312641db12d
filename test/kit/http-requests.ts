// Finds the requests in the bytes that an HTTP/1.1 client sends over one connection, as far as a test needs them: where each
// ends, and its text. After an upgrade everything is opaque.

export type HttpRequest = {
  /** Head and body as text; of a large body only the beginning. */
  readonly text: string;
  readonly isUpgrade: boolean;
};

const textMax = 200_000;
const headEnd = "\r\n\r\n";

export class HttpRequests {
  #held = "";
  #isOpaque = false;

  /** Bytes of a request have come whose end has not. */
  get isInside(): boolean {
    return this.#held !== "" && !this.#isOpaque;
  }

  get isUpgraded(): boolean {
    return this.#isOpaque;
  }

  /** The requests that are complete with this chunk. */
  push(chunk: Buffer): readonly HttpRequest[] {
    if (this.#isOpaque) return [];
    this.#held += chunk.toString("latin1");
    const found: HttpRequest[] = [];
    for (let end = endOf(this.#held); end !== null && !this.#isOpaque; end = endOf(this.#held)) {
      const text = Buffer.from(this.#held.slice(0, Math.min(end, textMax)), "latin1").toString();
      this.#held = this.#held.slice(end);
      this.#isOpaque = /\r\nupgrade:/i.test(headOf(text));
      found.push({ text, isUpgrade: this.#isOpaque });
    }
    return found;
  }
}

function headOf(text: string): string {
  const at = text.indexOf(headEnd);
  return at < 0 ? text : text.slice(0, at + 2);
}

/** Where the first request ends; null while it is not complete. */
function endOf(bytes: string): number | null {
  const at = bytes.indexOf(headEnd);
  if (at < 0) return null;
  const body = at + headEnd.length;
  const head = bytes.slice(0, at + 2);
  if (/\r\ntransfer-encoding:[^\r]*chunked/i.test(head)) return endOfChunks(bytes, body);
  const length = Number(/\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1] ?? 0);
  return bytes.length >= body + length ? body + length : null;
}

function endOfChunks(bytes: string, from: number): number | null {
  for (let at = from; ; ) {
    const line = bytes.indexOf("\r\n", at);
    if (line < 0) return null;
    const size = Number.parseInt(bytes.slice(at, line), 16);
    const next = line + 2 + size + 2;
    if (bytes.length < next) return null;
    if (size === 0) return next;
    at = next;
  }
}
