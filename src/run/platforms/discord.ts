// Discord, from its settings.

import type { Config } from "../../config/schema.ts";
import { discord } from "../../platforms/discord/index.ts";
import type { Far } from "./index.ts";

export function openDiscord({ token, apiRoot, streaming }: Exclude<Config["platforms"]["discord"], false>): Far {
  const settings = { token: token.reveal().replace(/^Bot\s+/i, ""), apiRoot, streaming };
  return (around) => ({ platform: discord(settings, around) });
}
