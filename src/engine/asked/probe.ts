// Asks every platform how it is, side by side. One that does not answer in time has answered: it is not well.

import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Probed } from "../../ports/gateway.ts";
import type { Platform } from "../../ports/platform.ts";
import { childOf, over } from "../abort.ts";
import type { Parts } from "../parts.ts";

export function probeAll(parts: Parts): Promise<readonly Probed[]> {
  return Promise.all(parts.platforms.map((platform) => probeOne(parts, platform)));
}

async function probeOne({ world, hide, closing }: Parts, platform: Platform): Promise<Probed> {
  const { name, account } = platform;
  const from = world.now();
  const told = (fine: boolean | null, said: string): Probed => {
    return { platform: name, account, fine, said: hide(said), tookMs: world.now() - from };
  };
  if (platform.probe === undefined) return told(null, "there is nothing further to ask");
  const own = childOf(closing);
  const silence = world
    .sleep(later(from, limits.probeMs), own.signal)
    .then(() => told(false, `it did not answer within ${limits.probeMs / 1_000} s`));
  try {
    return await Promise.race([platform.probe(own.signal).then((said) => told(true, said)), silence]);
  } catch (error) {
    return told(false, sentenceOf(error));
  } finally {
    own.abort(over);
  }
}
