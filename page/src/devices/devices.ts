// The browsers that are signed in, asked of the gateway while their list is open.

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Client } from "../net/client.ts";

export type Device = {
  readonly id: string;
  readonly name: string;
  readonly seenAt: number;
  /** It is this browser. */
  readonly isCurrent: boolean;
};

export type DeviceList = {
  readonly isOpen: Signal<boolean>;
  /** Null until the gateway has answered. */
  readonly all: ReadonlySignal<readonly Device[] | null>;
  /** Why the last press came to nothing; empty when it did not. */
  readonly trouble: ReadonlySignal<string>;
  look(): Promise<void>;
  revoke(id: string): Promise<void>;
};

export function deviceList(client: Pick<Client, "devices" | "revokeDevice">, denied: () => void): DeviceList {
  const isOpen = signal(false);
  const all = signal<readonly Device[] | null>(null);
  const trouble = signal("");

  async function look(): Promise<void> {
    if (!isOpen.value) return;
    const answer = await client.devices();
    if (answer.type === "denied") denied();
    if (answer.type === "got") all.value = answer.value;
  }

  return {
    isOpen,
    all,
    trouble,
    look,
    async revoke(id) {
      const answer = await client.revokeDevice(id);
      trouble.value = answer.type === "refused" ? answer.reason : answer.type === "later" ? noAnswer : "";
      if (answer.type === "denied") denied();
      else await look();
    },
  };
}

const noAnswer = "The gateway did not answer. Try again in a moment.";

export function readDevices(value: unknown): readonly Device[] | null {
  const { devices } = (value ?? {}) as { readonly devices?: unknown };
  if (!Array.isArray(devices)) return null;
  return devices.flatMap((one: unknown) => {
    const { id, name, seenAt, isCurrent } = (one ?? {}) as { readonly [field in keyof Device]?: unknown };
    if (typeof id !== "string" || typeof name !== "string" || typeof seenAt !== "number") return [];
    return [{ id, name, seenAt, isCurrent: isCurrent === true }];
  });
}
