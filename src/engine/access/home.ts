// The homes: where the gateway itself speaks to its owner. One that an admin chose in a chat wins over the configured one,
// as long as it is at an account that is still ours.

import type { Address } from "../../core/message.ts";
import { type Home, type WithHome, homesOf } from "../../core/notice.ts";
import type { Store } from "../../ports/store.ts";

export function homeFact(platform: string): string {
  return `home:${platform}`;
}

/** `ours`: the accounts that are open. */
export async function homesNow(
  store: Pick<Store, "fact">,
  platforms: Readonly<Record<string, WithHome>>,
  ours: readonly { readonly platform: string; readonly account: string }[],
): Promise<readonly Address[]> {
  const chosen: Record<string, Home> = {};
  for (const platform of Object.keys(platforms)) {
    const home = readHome(await store.fact(homeFact(platform)));
    if (home !== null && ours.some((one) => one.platform === platform && one.account === home.account))
      chosen[platform] = home;
  }
  return homesOf(platforms, chosen);
}

function readHome(text: string | null): Home | null {
  return text === null ? null : (JSON.parse(text) as Home);
}
