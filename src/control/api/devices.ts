// Links that let a browser in, the browsers that are signed in, and addresses that they may open without a header.

import { Fault } from "../../core/fault.ts";
import { BadRequest, refuse } from "../faults.ts";
import type { DevicesReply, NewLinkReply, RevokeDevicesReply, SignInReply, SignedReply } from "../protocol.ts";
import { fieldsOf } from "./input.ts";
import { type ApiRoute, json, smallBody } from "./route.ts";

/** Paths that are signed by one request. */
const pathsMax = 100;

export const deviceRoutes: readonly ApiRoute[] = [
  {
    method: "POST",
    path: "/api/links",
    role: "owner",
    body: smallBody,
    async handle(_, { devices, origin }) {
      const { secret, expiresAt } = await devices.newLink();
      return json({ link: linkOf(origin, secret), expiresAt } satisfies NewLinkReply);
    },
  },
  {
    // Before anybody is known: the link is the proof.
    method: "POST",
    path: "/api/sign-in",
    role: "public",
    body: { whole: 1024 },
    async handle({ body, headers }, { devices }) {
      const { link } = fieldsOf(body);
      if (typeof link !== "string") throw new BadRequest("Give the secret of the link as `link`.");
      const found = await devices.signIn(link, headers.get("user-agent") ?? "");
      if (found === null) return refuse(usedLink);
      return json({ credential: found.credential, device: found.device.id } satisfies SignInReply);
    },
  },
  {
    method: "GET",
    path: "/api/devices",
    role: "owner",
    body: "none",
    handle: (call, { devices }) =>
      json({
        devices: devices.list().map(({ id, name, createdAt, seenAt }) => ({
          id,
          name,
          createdAt,
          seenAt,
          isCurrent: id === call.device,
        })),
      } satisfies DevicesReply),
  },
  {
    method: "POST",
    path: "/api/devices/revoke",
    role: "owner",
    body: smallBody,
    handle: async (_, { devices }) => json({ revoked: (await devices.revoke()).length } satisfies RevokeDevicesReply),
  },
  {
    method: "POST",
    path: "/api/devices/:id/revoke",
    role: "owner",
    body: smallBody,
    async handle({ params }, { devices }) {
      const id = params["id"] ?? "";
      const gone = await devices.revoke(id);
      if (gone.length === 0)
        throw new Fault("not-found", `There is no device ${id}; \`everturn devices list\` shows them.`);
      return json({ revoked: gone.length } satisfies RevokeDevicesReply);
    },
  },
  {
    method: "POST",
    path: "/api/signed",
    role: "owner",
    body: { whole: 256 * 1024 },
    handle(call, { signed, isSignable }) {
      if (call.device === null) throw new BadRequest("Only devices open signed addresses; send the token instead.");
      const { paths } = fieldsOf(call.body);
      if (!Array.isArray(paths) || paths.length > pathsMax || !paths.every((path) => typeof path === "string"))
        throw new BadRequest(`Give up to ${pathsMax} \`paths\` as strings.`);
      const { device } = call;
      const all = paths.map((path) => {
        const url = URL.parse(path, "http://localhost");
        if (url === null || url.origin !== "http://localhost" || !isSignable(url.pathname))
          throw new BadRequest(`${path.slice(0, 100)} cannot be signed.`);
        return signed.sign(`${url.pathname}${url.search}`, device);
      });
      const expiresAt = Math.min(...all.map((one) => one.expiresAt));
      return json({ paths: all.map((one) => one.path), expiresAt } satisfies SignedReply);
    },
  },
];

/** In the fragment, which browsers keep to themselves. */
export function linkOf(origin: string, secret: string): string {
  return `${origin}/#link=${secret}`;
}

const usedLink = {
  status: 410,
  code: "link-used",
  message: "This link was used already, or it is older than 10 minutes. `everturn link` prints a new one.",
} as const;
