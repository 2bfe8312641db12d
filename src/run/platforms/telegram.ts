// Telegram, from its settings.

import type { Config } from "../../config/schema.ts";
import { telegram } from "../../platforms/telegram/index.ts";
import type { Far } from "./index.ts";

export function openTelegram(own: Exclude<Config["platforms"]["telegram"], false>): Far {
  const { apiRoot, streaming, receipts } = own;
  const secret = own.webhook?.secretToken;
  const webhook =
    own.webhook === undefined
      ? {}
      : { webhook: { url: own.webhook.url, ...(secret === undefined ? {} : { secretToken: secret.reveal() }) } };
  return (around) => telegram({ apiRoot, streaming, receipts, token: own.token.reveal(), ...webhook }, around);
}
