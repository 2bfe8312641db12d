// The browsers that are signed in: one-time links become credentials, credentials are recognized by their digest, and a
// revoked one ends everything that it has open. Kept in memory beside the store, so that a request costs no read.

import { createHash, randomBytes } from "node:crypto";
import {
  type AccessLink,
  type Device,
  accessLimits,
  deviceName,
  staleLinks,
  surplusDevices,
  useLink,
} from "../core/access/devices.ts";
import type { Change } from "../core/change.ts";
import { Fault, sentenceOf } from "../core/fault.ts";
import { type BootId, type Instant, later } from "../core/ids.ts";
import type { Archive, Store } from "../ports/store.ts";
import type { World } from "../ports/world.ts";

export type DeviceStore = Pick<Store, "commit"> & Pick<Archive, "devices" | "links">;

export type DeviceParts = {
  readonly store: DeviceStore;
  readonly boot: () => string;
  readonly world: Pick<World, "now" | "log">;
};

/** A device that is signed in now. */
export type SignedIn = {
  readonly device: Device;
  /** Aborts when it is revoked. */
  readonly revoked: AbortSignal;
};

export type Devices = {
  /** A new one-time link: its secret, which is not stored. */
  newLink(): Promise<{ readonly secret: string; readonly expiresAt: Instant }>;
  /** Null when the link does not work: used, expired or never made. */
  signIn(secret: string, userAgent: string): Promise<{ readonly credential: string; readonly device: Device } | null>;
  find(credential: string): SignedIn | null;
  byId(id: string): SignedIn | null;
  list(): readonly Device[];
  /** Those that were signed in; all of them without an id. */
  revoke(id?: string): Promise<readonly Device[]>;
};

type Entry = { device: Device; readonly ending: AbortController; storedAt: number };

export async function openDevices({ store, boot, world }: DeviceParts): Promise<Devices> {
  const entries = new Map<string, Entry>();
  const enter = (device: Device) =>
    entries.set(device.digest, { device, ending: new AbortController(), storedAt: device.seenAt });
  for (const device of await store.devices()) enter(device);

  async function commit(changes: readonly Change[]): Promise<"committed" | "conflict"> {
    const result = await store.commit(changes, boot() as BootId);
    if (result === "committed" || result === "conflict") return result;
    throw new Fault("not-possible", "This gateway no longer serves its home. Ask the one that took over.");
  }

  function seen(entry: Entry): void {
    const now = world.now();
    entry.device = { ...entry.device, seenAt: now };
    if (now - entry.storedAt < accessLimits.seenEveryMs) return;
    entry.storedAt = now;
    // Nothing waits for it: a lost moment only makes the list of devices less exact.
    commit([{ put: "seen", device: entry.device.id, at: now }]).catch((error: unknown) =>
      world.log("warn", "Storing when a device was last used failed", { error: sentenceOf(error) }),
    );
  }

  function use(entry: Entry | undefined): SignedIn | null {
    if (entry === undefined) return null;
    seen(entry);
    return { device: entry.device, revoked: entry.ending.signal };
  }

  function forget(gone: readonly Device[]): void {
    for (const { digest } of gone) {
      entries.get(digest)?.ending.abort(revokedReason);
      entries.delete(digest);
    }
  }

  const all = () => [...entries.values()].map(({ device }) => device);

  return {
    async newLink() {
      const secret = newSecret();
      const now = world.now();
      const link: AccessLink = { digest: digestOf(secret), expiresAt: later(now, accessLimits.linkMs) };
      const stale = staleLinks(await store.links(), now).map(({ digest }): Change => ({ drop: "link", digest }));
      // Another call may have dropped them meanwhile; the next one does the rest.
      if ((await commit([...stale, { put: "link", link }])) === "conflict") await commit([{ put: "link", link }]);
      return { secret, expiresAt: link.expiresAt };
    },
    async signIn(secret, userAgent) {
      const now = world.now();
      const link = useLink(await store.links(), digestOf(secret), now);
      if (link === null) return null;
      const credential = newSecret();
      const device: Device = {
        id: randomBytes(6).toString("hex"),
        digest: digestOf(credential),
        name: deviceName(userAgent),
        createdAt: now,
        seenAt: now,
      };
      const surplus = surplusDevices(all());
      const changes: Change[] = [
        { drop: "link", digest: link.digest },
        ...surplus.map(({ id }): Change => ({ drop: "device", id })),
        { put: "device", device },
      ];
      if ((await commit(changes)) === "conflict") return null;
      forget(surplus);
      enter(device);
      return { credential, device };
    },
    find: (credential) => use(entries.get(digestOf(credential))),
    byId: (id) => use([...entries.values()].find(({ device }) => device.id === id)),
    list: all,
    async revoke(id) {
      const gone = all().filter((one) => id === undefined || one.id === id);
      // Refused from now on, also while the store is being written.
      forget(gone);
      try {
        await commit(gone.map((one): Change => ({ drop: "device", id: one.id })));
      } catch (error) {
        // They are still stored: listed, so that they can be revoked again.
        for (const one of gone) enter(one);
        throw error;
      }
      return gone;
    },
  };
}

const revokedReason = new Fault("not-possible", "This device was signed out.");

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
