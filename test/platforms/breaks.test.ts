// A real gateway while every connection to Telegram fails for a while, in each way that networks fail, with and without a
// kill in the middle: every answer arrives, in order, with at most one copy more than there were uncertain sends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Breakage } from "../fakes/telegram.ts";
import { runGateway, until } from "../process/stage.ts";
import { opened } from "./telegram-stage.ts";

/** Real time; a longer one by EVERTURN_BREAK_MS. */
const breakMs = Number(process.env["EVERTURN_BREAK_MS"] ?? 8_000);
const patience = { timeout: 8 * breakMs + 400_000 };
const people = 8;

const faults: readonly (readonly [string, Breakage])[] = [
  ["reset before it arrives", { type: "drop", when: "before" }],
  ["reset after it arrived", { type: "drop", when: "after" }],
  ["a page of a proxy instead of JSON", { type: "html", when: "before" }],
  ["502 from a proxy", { type: "answer", code: 502, description: "Bad Gateway" }],
];

for (const [name, breakage] of faults)
  for (const streaming of [true, false])
    test(
      `${breakMs / 1_000} s of "${name}", streaming ${streaming ? "on" : "off"}, and a kill`,
      patience,
      async (t) => {
        const { fake, home } = await opened(t, {}, `    streaming: ${streaming}\n`);
        const gateway = await runGateway(t, home);
        const all = Array.from({ length: people }, (_, n) => fake.person(`Person ${n}`));
        for (const one of all) one.write("first");
        const has = (like: RegExp) => all.every(({ chat }) => fake.said(chat).some((text) => like.test(text)));
        await until(
          () => has(/^You said: first$/),
          (isThere) => isThere,
          "the first answers",
        );
        for (const one of all) one.write("count to 3 slowly");
        await sleep(500);
        fake.breaks = () => breakage;
        fake.cut();
        await sleep(breakMs / 2);
        await gateway.end("SIGKILL");
        await runGateway(t, home);
        await sleep(breakMs / 2);
        fake.breaks = () => null;
        for (const one of all) one.write("last");
        await until(
          () => has(/^You said: last$/),
          (isThere) => isThere,
          () => `the last answers, but there is ${JSON.stringify(all.map(({ chat }) => fake.said(chat)))}`,
        );
        for (const { chat } of all) {
          const said = fake.said(chat);
          const order = ["first", "Counted", "last"].map((word) => said.findIndex((text) => text.includes(word)));
          assert.ok(
            order.every((place, n) => place >= 0 && (n === 0 || place > (order[n - 1] ?? 0))),
            `in order: ${JSON.stringify(said)}`,
          );
          assert.ok(said.filter((text) => text.includes("Counted")).length <= 3, `few copies: ${JSON.stringify(said)}`);
          assert.ok(!said.some((text) => text.includes("/resend")), "nothing is held");
        }
      },
    );
