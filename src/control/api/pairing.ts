// Who asks to be let in, who was, and what their owner decides about it. Digests of codes are told to nobody.

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
import { fieldsOf } from "./input.ts";
import { type ApiRoute, json, smallBody } from "./route.ts";

const order = { method: "POST", role: "owner", body: smallBody } as const;

export const pairingRoutes: readonly ApiRoute[] = [
  {
    method: "GET",
    path: "/api/pairings",
    role: "owner",
    body: "none",
    async handle(_, { archive, now }) {
      const at = now() as Instant;
      const waiting = (await archive.pairings()).filter((one) => isOpen(one, at)).map(toView);
      return json({ waiting, paired: await archive.pairedPeople() } satisfies PairingsReply);
    },
  },
  {
    ...order,
    path: "/api/pairings/approve",
    async handle({ body }, { gateway }) {
      const { code, admin } = fieldsOf(body);
      if (typeof code !== "string" || code.trim() === "")
        throw new BadRequest("Give the `code` that the unknown sender received.");
      const paired = await gateway.approvePairing({ code }, isAdmin(admin));
      return json({ paired } satisfies ApprovePairingReply);
    },
  },
  {
    ...order,
    path: "/api/pairings/deny",
    async handle({ body }, { gateway }) {
      const { who } = fieldsOf(body);
      if (typeof who !== "string" || who.trim() === "")
        throw new BadRequest("Say `who` is not let in, by code, id or name.");
      return json({ denied: await gateway.denyPairing({ who }) } satisfies DenyPairingReply);
    },
  },
  {
    ...order,
    path: "/api/pairings/revoke",
    async handle({ body }, { gateway }) {
      const { who } = fieldsOf(body);
      if (typeof who !== "string" || who.trim() === "")
        throw new BadRequest("Say `who` may no longer speak, by id or name.");
      return json({ revoked: await gateway.revokePaired(who) } satisfies RevokePairedReply);
    },
  },
  {
    ...order,
    path: "/api/pairings/:id/approve",
    async handle({ params, body }, { gateway }) {
      const { admin } = fieldsOf(body === "" ? "{}" : body);
      const paired = await gateway.approvePairing({ id: params["id"] ?? "" }, isAdmin(admin));
      return json({ paired } satisfies ApprovePairingReply);
    },
  },
  {
    ...order,
    path: "/api/pairings/:id/deny",
    async handle({ params }, { gateway }) {
      await gateway.denyPairing({ id: params["id"] ?? "" });
      return json({ done: true } satisfies DoneReply);
    },
  },
];

function isAdmin(given: unknown): boolean {
  if (given !== undefined && typeof given !== "boolean") throw new BadRequest("`admin` must be true or false.");
  return given === true;
}

function toView({ id, sender, name, address, askedAt, expiresAt }: Pairing): PairingView {
  const { platform, account } = address;
  return { id, platform, account, sender, name, address: formatAddress(address), askedAt, expiresAt };
}
