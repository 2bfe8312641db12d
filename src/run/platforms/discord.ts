// Discord, from its settings.

import type { Config } from "../../config/schema.ts";
import { discord } from "../../platforms/discord/index.ts";
import type { Far } from "./index.ts";

export function openDiscord(own: Exclude<Config["platforms"]["discord"], false>): Far {
  const { apiRoot, streaming } = own;
  const token = own.token.reveal().replace(/^Bot\s+/i, "");
  return (around) => ({ platform: discord({ token, apiRoot, streaming }, around) });
}
