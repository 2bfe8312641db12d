// Orders to the gateway about sessions, turns, the outbox and the gateway itself.

import { Fault } from "../../core/fault.ts";
import type { ItemId } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import { formatAddress, parseAddress } from "../../core/message.ts";
import type { Store } from "../../ports/store.ts";
import { BadRequest, notFound, refuse } from "../faults.ts";
import type { DoneReply, RestartReply, RestartRequest, RetryReply, SendReply, SendRequest } from "../protocol.ts";
import { awaitDelivery, connectionOf, deliveryWaitMaxMs } from "./delivery.ts";
import { fieldsOf, oneOf } from "./input.ts";
import { sessionOf, turnOf } from "./reads.ts";
import { type ApiRoute, json, smallBody, textBody } from "./route.ts";

const order = { method: "POST", role: "owner", body: smallBody } as const;
const done = { done: true } satisfies DoneReply;

export const orders: readonly ApiRoute[] = [
  {
    ...order,
    path: "/api/sessions/:id/reset",
    async handle({ params }, { gateway, store }) {
      await gateway.reset((await sessionOf(store, params["id"])).id);
      return json(done);
    },
  },
  {
    ...order,
    path: "/api/turns/:id/cancel",
    async handle({ params }, { gateway, store }) {
      await gateway.cancel((await turnOf(store, params["id"])).id);
      return json(done);
    },
  },
  {
    ...order,
    path: "/api/turns/:id/retry",
    async handle({ params }, { gateway, store, archive }) {
      const { id } = await turnOf(store, params["id"]);
      await gateway.retry(id);
      const again = (await archive.turns({ limit: 50 })).find((one) => one.input.key.startsWith(`=retry:${id}:`));
      return json({ ...done, turn: again?.id ?? null } satisfies RetryReply);
    },
  },
  {
    ...order,
    path: "/api/outbox/:id/retry",
    async handle({ params }, { gateway, store }) {
      await gateway.resend(await itemOf(store, params["id"]));
      return json(done);
    },
  },
  {
    ...order,
    path: "/api/outbox/:id/discard",
    async handle({ params }, { gateway, store }) {
      await gateway.discard(await itemOf(store, params["id"]));
      return json(done);
    },
  },
  {
    ...order,
    path: "/api/restart",
    async handle({ body }, { gateway }) {
      const by = restartBy(body);
      const answer = await gateway.restart({ by, reason: `it was asked to restart ${askers[by]}` });
      if (answer !== "restarting") throw new Fault("not-possible", answer.refused);
      return json({ restarting: true } satisfies RestartReply);
    },
  },
  {
    ...order,
    path: "/api/resume",
    handle(_, { gateway }) {
      gateway.leaveSafeMode("its owner wants another try");
      return json(done);
    },
  },
  {
    ...order,
    path: "/api/send",
    body: textBody,
    async handle({ body }, parts) {
      const { to, text, key, waitMs } = readSend(body);
      const address = parseAddress(to);
      if (address === null) throw new BadRequest(`"${to}" is not an address. ${addressTodo}`);
      if (connectionOf(parts.gateway, address) === undefined)
        return refuse(notFound(`There is no platform for ${formatAddress(address)}. ${addressTodo}`));
      const status = await parts.gateway.post(address, text, key);
      const delivery = waitMs === 0 ? null : await awaitDelivery(parts, address, key, waitMs);
      return json({ status, ...(delivery === null ? {} : { delivery }) } satisfies SendReply);
    },
  },
];

const addressTodo =
  "An address is platform/account/chat, such as web/local/my-chat; `everturn sessions list` shows those of conversations.";

const askers = {
  cli: "from the command line",
  dashboard: "from the dashboard",
  tool: "by a command of one of its tools",
} as const satisfies Record<RestartRequest["by"], string>;

function restartBy(body: string): RestartRequest["by"] {
  const { by } = fieldsOf(body === "" ? "{}" : body);
  const names = Object.keys(askers) as (keyof typeof askers)[];
  return oneOf(names, typeof by === "string" ? by : null, "by") ?? "cli";
}

function readSend(body: string): Required<SendRequest> {
  const { to, text, key, waitMs = 0 } = fieldsOf(body);
  if (typeof to !== "string" || typeof text !== "string" || typeof key !== "string")
    throw new BadRequest("Give `to`, `text` and `key` as strings.");
  if (text.trim() === "") throw new BadRequest("The text is empty; there is nothing to send.");
  if (text.length > limits.textMax)
    throw new Fault("too-large", `The text is longer than ${limits.textMax} characters.`);
  if (!/^[\w.:-]{1,128}$/.test(key)) throw new BadRequest("`key` must be 1 to 128 letters, digits or . _ : -");
  if (typeof waitMs !== "number" || !(waitMs >= 0 && waitMs <= deliveryWaitMaxMs))
    throw new BadRequest(`\`waitMs\` must be a number from 0 to ${deliveryWaitMaxMs}.`);
  return { to, text, key, waitMs };
}

async function itemOf(store: Pick<Store, "item">, id = ""): Promise<ItemId> {
  const found = await store.item(id);
  if (found === null) throw new Fault("not-found", `There is no item ${id}; \`everturn outbox list\` shows them.`);
  return found.id;
}
