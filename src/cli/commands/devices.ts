// `everturn devices`: the browsers that are signed in, and signing them out.

import type { DevicesReply, RevokeDevicesReply } from "../../control/protocol.ts";
import { Fault } from "../../core/fault.ts";
import { type Context, reachGateway, show } from "../context.ts";
import { oneLine, table, when } from "../print.ts";

export async function list(context: Context): Promise<number> {
  const reply = await reachGateway(context).get<DevicesReply>("/api/devices");
  return show(context, reply, ({ devices }) => {
    if (devices.length === 0) return "No browser is signed in. `everturn link` prints a link that lets one in.";
    const now = context.now();
    const rows = devices.map((one) => [one.id, oneLine(one.name), when(one.createdAt, now), when(one.seenAt, now)]);
    return table(["ID", "BROWSER", "SINCE", "LAST USED"], rows, context.output);
  });
}

export async function revoke(context: Context): Promise<number> {
  const [id] = context.given;
  const isAll = context.flags["all"] === true;
  if (isAll === (id !== undefined))
    throw new Fault("not-possible", "Name one device, or give --all. `everturn devices list` shows them.");
  const path = id === undefined ? "/api/devices/revoke" : `/api/devices/${encodeURIComponent(id)}/revoke`;
  const reply = await reachGateway(context).post<RevokeDevicesReply>(path);
  return show(context, reply, ({ revoked }) =>
    revoked === 1 ? "1 browser was signed out." : `${revoked} browsers were signed out.`,
  );
}
