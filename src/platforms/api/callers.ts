// Who calls: whoever holds one of the configured keys, by its name, or the owner with the control token. Keys are compared
// whole and in the same time whatever is wrong with them, and appear in no answer.

import { createHash, timingSafeEqual } from "node:crypto";
import type { Caller } from "../../ports/http.ts";
import { type Refusal, noKey, wrongKey } from "./faults.ts";

export type Key = { readonly name: string; readonly key: string };

/** How the holder of the control token is called. */
export const owner = "owner";

export function callerOf(keys: readonly Key[], request: Request, caller: Caller | undefined): string | Refusal {
  const given = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (given === undefined) return noKey;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const asked = digest(given);
  const found = keys.filter(({ key }) => timingSafeEqual(digest(key), asked))[0];
  if (found !== undefined) return found.name;
  return caller?.isOwner === true ? owner : wrongKey;
}
