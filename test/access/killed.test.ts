// A gateway that dies before or behind any commit of a pairing: the stranger has one code that works, is let in once, hears
// of it once, and the admin who approved it is answered once.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inbound } from "../../src/core/message.ts";
import { type Living, type Stage, stage } from "../stop/stage.ts";
import { type Cut, asking, message, mortal, seenBy } from "./people.ts";

type Told = { readonly on: Stage; readonly commits: number; readonly codes: readonly string[] };

const codesIn = (texts: readonly string[]) => texts.flatMap((text) => /: ([2-9A-HJ-NP-Z]{8})\n/.exec(text)?.[1] ?? []);

async function story(t: Parameters<typeof stage>[0], by: "chat" | "operator", cut: Cut | null): Promise<Told> {
  const on = await stage(t);
  const power = mortal(on, cut);
  let living: Living = await on.start({ ...asking(), store: power.store });
  power.made.living = living;

  /** Does it again in the next life, as whoever asked would. */
  async function surely(work: () => Promise<unknown> | undefined): Promise<void> {
    let isOver = false;
    const over = () => void (isOver = true);
    work()?.then(over, over);
    await on.until(() => isOver || power.made.dead, "an end or a death");
    if (!power.made.dead) return;
    await reborn();
    return surely(work);
  }

  async function reborn(): Promise<void> {
    power.made.dead = false;
    living = await on.start(asking());
  }

  async function until(holds: () => boolean): Promise<void> {
    await on.until(() => holds() || power.made.dead);
    if (!power.made.dead) return;
    await reborn();
    await until(holds);
  }

  const handed = (one: Inbound) => () => on.servers.get("chat")?.accept?.(one, one.key);
  await surely(handed(message("eve", "hello")));
  await until(() => seenBy(on, "with eve").length > 0);
  const [code = ""] = codesIn(seenBy(on, "with eve"));
  if (by === "chat") await surely(handed(message("boss", `/pair approve ${code}`)));
  else await surely(() => living.gateway.approvePairing({ code }, false));
  await until(() => seenBy(on, "with eve").length > 1);
  await surely(handed(message("eve", "hi")));
  await until(() => seenBy(on, "with eve").length > 2);
  await on.pass(60_000);
  return { on, commits: power.made.commits, codes: codesIn(seenBy(on, "with eve")) };
}

for (const by of ["chat", "operator"] as const) {
  test(`let in by the ${by}, killed before or behind any commit`, async (t) => {
    const { commits } = await story(t, by, null);
    assert.ok(commits > 6);
    for (let commit = 1; commit <= commits; commit++) {
      for (const when of ["before", "after"] as const) {
        const { on, codes } = await story(t, by, { commit, when });
        const texts = seenBy(on, "with eve");
        const where = `${when} commit ${commit}: ${texts.join(" | ")}`;
        assert.equal(codes.length, 1, where);
        assert.deepEqual(texts.slice(1), ["You may write to me now.", "answer to hi"], where);
        assert.equal((await on.store.paired("chat", "bot", "eve"))?.sender, "eve");
        assert.deepEqual(await on.store.pairings(), []);
        if (by === "chat") assert.deepEqual(seenBy(on, "with boss"), ["eve may write to me now."], where);
      }
    }
  });
}
