// IRC, from its settings.

import type { Config } from "../../config/schema.ts";
import { irc } from "../../platforms/irc/index.ts";
import type { Far } from "./index.ts";

export function openIrc(own: Exclude<Config["platforms"]["irc"], false>): Far {
  const { host, port, tls, nick, realName, channels, lineEveryMs, askAccounts, sasl } = own;
  const password = own.password?.reveal() ?? null;
  const login = sasl === undefined ? null : { account: sasl.account, password: sasl.password.reveal() };
  const settings = { host, port, tls, nick, realName, channels, lineEveryMs, askAccounts, password, sasl: login };
  return (around) => ({ platform: irc(settings, around) });
}
