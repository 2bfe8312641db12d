// A far side in memory, for the contract suite's own proof: it keeps what users write until it is acknowledged, shows what
// it was sent, and fails as it is told.

import type { Failure, Receipt } from "../../../src/testing/index.ts";

export type Update = {
  readonly id: number;
  readonly text: string;
  readonly thread?: string;
  readonly called?: boolean;
  readonly isSelf?: true;
  readonly replaces?: number;
  readonly press?: { readonly question: string; readonly choice: string };
};

/** Updates in the order they are offered; one that is offered again has a place of its own. */
export type Offer = { readonly place: number; readonly update: Update };

export type Shown = {
  readonly id: number;
  readonly key: string | null;
  readonly thread: string | undefined;
  text: string;
  readonly question?: { readonly id: string; readonly choices: readonly string[] };
};

export class Refusal extends Error {
  readonly kind: Failure | "down" | "gone";
  constructor(kind: Failure | "down" | "gone") {
    super(`the far side says: ${kind}`);
    this.kind = kind;
  }
}

export class FarSide {
  readonly offers: Offer[] = [];
  shown: Shown[] = [];
  acked = 0;
  fail: Failure | null = null;
  isDown = false;
  isDenied = false;
  listener: { readonly wake: () => void; readonly leave: () => void } | null = null;
  #ids = 0;
  readonly #waiting = new Map<number, (receipt: Receipt) => void>();

  write(update: Omit<Update, "id">): Promise<Receipt> {
    return this.offer({ id: ++this.#ids, ...update });
  }

  /** Refused when nobody listens, or as soon as nobody does any more. */
  offer(update: Update): Promise<Receipt> {
    const place = this.offers.length + 1;
    this.offers.push({ place, update });
    return this.receiptOf(place);
  }

  receiptOf(place: number, isPatient = false): Promise<Receipt> {
    if (place <= this.acked) return Promise.resolve("acknowledged");
    if (this.listener === null && !isPatient) return Promise.resolve("refused");
    this.listener?.wake();
    return new Promise((resolve) => this.#waiting.set(place, resolve));
  }

  ack(place: number): void {
    this.acked = Math.max(this.acked, place);
    for (const [waiting, resolve] of this.#waiting)
      if (waiting <= this.acked) this.#settle(waiting, resolve, "acknowledged");
  }

  left(): void {
    this.listener = null;
    for (const [waiting, resolve] of this.#waiting) this.#settle(waiting, resolve, "refused");
  }

  #settle(place: number, resolve: (receipt: Receipt) => void, receipt: Receipt): void {
    this.#waiting.delete(place);
    resolve(receipt);
  }

  /** A request that changes what is shown; breaks where it was told to. */
  async request<T>(effect: () => T): Promise<T> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isDown) throw new Refusal("down");
    if (this.isDenied) throw new Refusal("denied");
    const { fail } = this;
    this.fail = null;
    if (fail !== null && fail !== "dropped-after") throw new Refusal(fail);
    const done = effect();
    if (fail !== null) throw new Refusal(fail);
    return done;
  }

  show(key: string | null, thread: string | undefined, text: string, question?: Shown["question"]): number {
    const known = this.shown.find((one) => key !== null && one.key === key);
    if (known !== undefined) return known.id;
    const id = ++this.#ids;
    this.shown.push({ id, key, thread, text, ...(question === undefined ? {} : { question }) });
    return id;
  }
}
