// IRC, from its settings.

import type { Config } from "../../config/schema.ts";
import { type IrcLogin, irc } from "../../platforms/irc/index.ts";
import type { Far } from "./index.ts";

export function openIrc(own: Exclude<Config["platforms"]["irc"], false>): Far {
  const { host, port, tls, nick, realName, channels, lineEveryMs, askAccounts, sasl } = own;
  const password = own.password?.reveal() ?? null;
  const settings = {
    host,
    port,
    tls,
    nick,
    realName,
    channels,
    lineEveryMs,
    askAccounts,
    password,
    sasl: loginOf(sasl),
  };
  return (around) => ({ platform: irc(settings, around) });
}

function loginOf(sasl: Exclude<Config["platforms"]["irc"], false>["sasl"]): IrcLogin | null {
  if (sasl === undefined) return null;
  const { account, password, certificate, key = certificate } = sasl;
  if (certificate !== undefined && key !== undefined) return { account: account ?? null, certificate, key };
  return account === undefined || password === undefined ? null : { account, password: password.reveal() };
}
