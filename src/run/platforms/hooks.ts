// The webhooks, from their settings.

import type { Config } from "../../config/schema.ts";
import { parseAddress } from "../../core/message.ts";
import type { Hook } from "../../platforms/hooks/api.ts";
import { hooks } from "../../platforms/hooks/index.ts";
import type { Far } from "./index.ts";

export function openHooks(own: Exclude<Config["platforms"]["hooks"], false>): Far {
  const all = Object.entries(own.hooks).map(([name, { secret, style, text, id, to, reply }]): Hook => {
    const plain = secret.reveal();
    const place = to === undefined ? null : parseAddress(to);
    return {
      name,
      secret: plain,
      style,
      ...(text === undefined ? {} : { text }),
      ...(id === undefined ? {} : { id }),
      ...(place === null ? {} : { to: place }),
      ...(reply === undefined ? {} : { reply: { url: reply.url, secret: reply.secret?.reveal() ?? plain } }),
    };
  });
  return (around) => hooks(all, around);
}
