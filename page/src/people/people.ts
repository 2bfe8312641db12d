// Strangers who wait to be let in on some platform: asked of the gateway now and then, decided by a press. A press that did
// not get through changes nothing and says so.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Client } from "../net/client.ts";

export type Stranger = {
  readonly id: string;
  readonly platform: string;
  readonly sender: string;
  /** What they call themselves, which says little about who they are. */
  readonly name: string;
  readonly expiresAt: number;
};

export type Choice = "approve" | "deny";

export type People = {
  readonly waiting: ReadonlySignal<readonly Stranger[]>;
  /** Requests whose press is on its way. */
  readonly pressed: ReadonlySignal<ReadonlySet<string>>;
  /** Why the last press came to nothing; empty when it did not. */
  readonly trouble: ReadonlySignal<string>;
  look(): Promise<void>;
  decide(id: string, choice: Choice): Promise<void>;
};

export function people(client: Pick<Client, "pairings" | "decidePairing">): People {
  const waiting = signal<readonly Stranger[]>([]);
  const pressed = signal<ReadonlySet<string>>(new Set());
  const trouble = signal("");

  async function look(): Promise<void> {
    const answer = await client.pairings();
    if (answer.type === "got") waiting.value = answer.value;
  }

  return {
    waiting,
    pressed,
    trouble,
    look,
    async decide(id, choice) {
      if (pressed.value.has(id)) return;
      pressed.value = new Set([...pressed.value, id]);
      const answer = await client.decidePairing(id, choice);
      trouble.value =
        answer.type === "stored"
          ? ""
          : answer.type === "refused"
            ? answer.reason
            : "The gateway did not answer. Press again in a moment.";
      await look();
      pressed.value = new Set([...pressed.value].filter((one) => one !== id));
    },
  };
}

export function readStrangers(value: unknown): readonly Stranger[] | null {
  if (!isFields(value) || !Array.isArray(value["waiting"])) return null;
  return value["waiting"].map(readStranger).filter((one) => one !== null);
}

function readStranger(value: unknown): Stranger | null {
  if (!isFields(value)) return null;
  const { id, platform, sender, name, expiresAt } = value;
  if (typeof id !== "string" || typeof platform !== "string" || typeof sender !== "string") return null;
  const called = typeof name === "string" && name.trim() !== "" ? name : sender;
  return { id, platform, sender, name: called, expiresAt: typeof expiresAt === "number" ? expiresAt : 0 };
}

function isFields(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null;
}
