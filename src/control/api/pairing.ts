// Who asks to be let in, who was, and what their owner decides about it. Digests of codes are told to nobody.

import type { Hono } from "hono/tiny";
import { type Pairing, isOpen } from "../../core/access/pairing.ts";
import type { Instant } from "../../core/ids.ts";
import { formatAddress } from "../../core/message.ts";
import { BadRequest } from "../faults.ts";
import type {
  ApprovePairingReply,
  DenyPairingReply,
  DoneReply,
  PairingView,
  PairingsReply,
  RevokePairedReply,
} from "../protocol.ts";
import type { ApiParts } from "./index.ts";
import { fieldsOf } from "./input.ts";

export function addPairing(app: Hono, { gateway, archive, now }: ApiParts): void {
  app.get("/pairings", async (c) => {
    const at = now() as Instant;
    const waiting = (await archive.pairings()).filter((one) => isOpen(one, at)).map(toView);
    return c.json({ waiting, paired: await archive.pairedPeople() } satisfies PairingsReply);
  });
  app.post("/pairings/approve", async (c) => {
    const { code, admin } = fieldsOf(await c.req.text());
    if (typeof code !== "string" || code.trim() === "")
      throw new BadRequest("Give the `code` that the stranger was told.");
    const paired = await gateway.approvePairing({ code }, isAdmin(admin));
    return c.json({ paired } satisfies ApprovePairingReply);
  });
  app.post("/pairings/deny", async (c) => {
    const { who } = fieldsOf(await c.req.text());
    if (typeof who !== "string" || who.trim() === "")
      throw new BadRequest("Say `who` is not let in, by code, id or name.");
    return c.json({ denied: await gateway.denyPairing({ who }) } satisfies DenyPairingReply);
  });
  app.post("/pairings/revoke", async (c) => {
    const { who } = fieldsOf(await c.req.text());
    if (typeof who !== "string" || who.trim() === "")
      throw new BadRequest("Say `who` may no longer speak, by id or name.");
    return c.json({ revoked: await gateway.revokePaired(who) } satisfies RevokePairedReply);
  });
  app.post("/pairings/:id/approve", async (c) => {
    const body = await c.req.text();
    const { admin } = fieldsOf(body === "" ? "{}" : body);
    const paired = await gateway.approvePairing({ id: c.req.param("id") }, isAdmin(admin));
    return c.json({ paired } satisfies ApprovePairingReply);
  });
  app.post("/pairings/:id/deny", async (c) => {
    await gateway.denyPairing({ id: c.req.param("id") });
    return c.json({ done: true } satisfies DoneReply);
  });
}

function isAdmin(given: unknown): boolean {
  if (given !== undefined && typeof given !== "boolean") throw new BadRequest("`admin` must be true or false.");
  return given === true;
}

function toView({ id, sender, name, address, askedAt, expiresAt }: Pairing): PairingView {
  const { platform, account } = address;
  return { id, platform, account, sender, name, address: formatAddress(address), askedAt, expiresAt };
}
