// `everturn pair`: who waits to be let in, who was, and how that is decided.

import type {
  ApprovePairingReply,
  DenyPairingReply,
  PairingsReply,
  RevokePairedReply,
} from "../../control/protocol.ts";
import { visibleLine } from "../../core/asked/visible.ts";
import { type Context, reachGateway, show } from "../context.ts";
import { oneLine, table, when } from "../print.ts";

export async function list(context: Context): Promise<number> {
  const reply = await reachGateway(context).get<PairingsReply>("/api/pairings");
  return show(context, reply, ({ waiting, paired }) => {
    const now = context.now();
    const asks = waiting.map((one) => [...whoOf(one), when(one.askedAt, now), when(one.expiresAt, now)]);
    const people = paired.map((one) => [...whoOf(one), one.admin ? "yes" : "", when(one.at, now), oneLine(one.by)]);
    return [
      asks.length === 0
        ? "Nobody waits to be let in."
        : `${table(["PLATFORM", "ID", "NAME", "ASKED", "UNTIL"], asks, context.output)}\nTheir codes let them in: everturn pair approve <code>; everturn pair deny <id> turns one down`,
      people.length === 0
        ? "Nobody was let in by a code."
        : table(["PLATFORM", "ID", "NAME", "ADMIN", "SINCE", "LET IN BY"], people, context.output),
    ].join("\n\n");
  });
}

export async function approve(context: Context): Promise<number> {
  const [code = ""] = context.given;
  const admin = context.flags["admin"] === true;
  const reply = await reachGateway(context).post<ApprovePairingReply>("/api/pairings/approve", { code, admin });
  return show(context, reply, ({ paired }) => {
    const and = admin ? " As an admin they may also approve, restart the gateway and let others in." : "";
    return `${nameOf(paired)} at ${paired.platform} may write from now on, and is told so.${and}`;
  });
}

export async function deny(context: Context): Promise<number> {
  const who = context.given.join(" ");
  const reply = await reachGateway(context).post<DenyPairingReply>("/api/pairings/deny", { who });
  return show(context, reply, ({ denied }) => {
    return `${nameOf(denied)} at ${denied.platform} is not let in, and hears nothing of it.`;
  });
}

export async function revoke(context: Context): Promise<number> {
  const who = context.given.join(" ");
  const reply = await reachGateway(context).post<RevokePairedReply>("/api/pairings/revoke", { who });
  return show(context, reply, ({ revoked }) => {
    return `${nameOf(revoked)} at ${revoked.platform} may no longer write, unless \`allow\` in the configuration names them.`;
  });
}

type Person = { readonly platform: string; readonly sender: string; readonly name: string | null };

function whoOf({ platform, sender, name }: Person): readonly string[] {
  return [platform, visibleLine(sender), visibleLine(name ?? "")];
}

function nameOf({ sender, name }: Person): string {
  return name === null || name === sender ? visibleLine(sender) : `${visibleLine(name)} (${visibleLine(sender)})`;
}
