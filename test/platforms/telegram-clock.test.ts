// A clock that is set back while the gateway serves: pauses end by the time that really passes, so answers still leave.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { runGateway, signal } from "../process/stage.ts";
import { answer, opened } from "./telegram-stage.ts";

for (const streaming of [true, false])
  test(`a clock set back by an hour delays no answer, streaming ${streaming ? "on" : "off"}`, async (t) => {
    const { fake, home } = await opened(t, {}, `    streaming: ${streaming}\n`);
    const preload = pathToFileURL(join(import.meta.dirname, "../process/clock-jumps.ts")).href;
    const env = { NODE_OPTIONS: `--import ${preload}`, CLOCK_JUMP: "-3600000", CLOCK_SIGNAL: "SIGUSR2" };
    const gateway = await runGateway(t, home, { env });
    const ann = fake.person("Ann");
    ann.write("count to 3 slowly");
    await answer(fake, ann.chat, /1/);
    // Several answers use up the burst of the chat, so the next ones are paced while the clock jumps.
    for (let n = 0; n < 5; n++) ann.write(`before ${n}`);
    await sleep(500);
    signal(gateway.pid, "SIGUSR2");
    ann.write("after");
    await answer(fake, ann.chat, /^You said: after$/);
    const said = fake.said(ann.chat).filter((text) => text.startsWith("You said"));
    assert.deepEqual(said, [...Array.from({ length: 5 }, (_, n) => `You said: before ${n}`), "You said: after"]);
  });
