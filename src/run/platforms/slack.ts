// Slack, from its settings.

import type { Config } from "../../config/schema.ts";
import { slack } from "../../platforms/slack/index.ts";
import type { Far } from "./index.ts";

type Own = Exclude<Config["platforms"]["slack"], false>;

export function openSlack({ botToken, appToken, apiRoot, streaming }: Own): Far {
  const settings = {
    botToken: botToken.reveal(),
    appToken: appToken.reveal(),
    apiRoot: apiRoot.replace(/\/+$/, ""),
    streaming,
  };
  return (around) => ({ platform: slack(settings, around) });
}
