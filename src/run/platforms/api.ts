// The HTTP API, from its settings.

import type { Config } from "../../config/schema.ts";
import type { SessionId } from "../../core/ids.ts";
import { personAt } from "../../core/requester.ts";
import { account } from "../../platforms/api/api.ts";
import { api } from "../../platforms/api/index.ts";
import type { Far } from "./index.ts";

export function openApi({ keys }: Exclude<Config["platforms"]["api"], false>): Far {
  const named = Object.entries(keys).map(([name, { key }]) => ({ name, key: key.reveal() }));
  return (around) => {
    const filesOf = (caller: string) => around.filesOf(personAt({ platform: "api", account, chat: caller }));
    const troubleOf = (session: SessionId) =>
      around
        .gateway()
        .status()
        .running.find((one) => one.session === session)?.trouble ?? null;
    return api({ keys: named, filesOf, models: around.models }, { ...around, troubleOf });
  };
}
