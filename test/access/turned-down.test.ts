// Turning strangers down, from a chat and by command: by their code, id or name, and nobody else; what cannot be a code is
// no try at one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../../src/core/limits.ts";
import { stage } from "../stop/stage.ts";
import { asking, codeFor, decided, talk, web, write } from "./people.ts";

test("a stranger is turned down by code, id or name, silently", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  const code = await codeFor(on, "eve");
  await codeFor(on, "mallory");
  await codeFor(on, "trent");
  assert.equal(
    await talk(on, "boss", `/pair deny ${code.toLowerCase()}`),
    "eve is not let in, and hears nothing of it.",
  );
  assert.equal(await talk(on, "boss", "/pair deny chat/mallory"), "mallory is not let in, and hears nothing of it.");
  assert.equal((await decided(on, gateway.denyPairing({ who: "trent" }))).sender, "trent");
  assert.match(await talk(on, "boss", "/pair"), /^Nobody waits/);
  await on.pass(limits.pairingReminderMs);
  for (const sender of ["eve", "mallory", "trent"]) assert.equal(await write(on, sender, "hello?"), "ignored");
  assert.match(await talk(on, "boss", `/pair approve ${code}`), /^No open request has this code/);
  assert.match(await talk(on, "boss", "/pair deny eve"), /^Nobody who waits to be let in is "eve"/);
  assert.match(await talk(on, "boss", "/pair deny"), /^Send \/pair to see who waits, .*\/pair deny/);
});

test("an admin of one platform turns down its people alone", async (t) => {
  const on = await stage(t);
  const rules = asking().settings?.["chat"] ?? {};
  const two = { ...asking(), platforms: { chat: {}, web: {}, other: {} } };
  await on.start({ ...two, settings: { ...two.settings, other: rules } });
  const code = await codeFor(on, "eve");
  const other = { from: { platform: "other", account: "bot", chat: "with boss" } };
  for (const which of ["eve", "chat/eve", code])
    assert.match(await talk(on, "boss", `/pair deny ${which}`, other), /^Nobody who waits|^No open request/, which);
  assert.equal(await talk(on, "me", "/pair deny eve", web), "eve is not let in, and hears nothing of it.");
});

test("what cannot be a code is no try; wrong codes close both ways, and a name still turns somebody down", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  const code = await codeFor(on, "eve");
  for (const text of ["eve", "ABC", "ABCDEFGHJ", "ABCDEFG0", "IIIIIIII", "ä".repeat(8)])
    for (let n = 0; n <= limits.pairingTriesMax; n++)
      assert.match(
        await talk(on, "boss", `/pair approve ${text}`),
        /^That cannot be a code: they have 8 characters/,
        text,
      );
  for (let n = 0; n < limits.pairingTriesMax; n++)
    assert.match(await talk(on, "boss", `/pair deny AAAAAAA${n + 2}`), /^No open request has this code/);
  const shut = /^(?:Fault: )?Too many wrong codes were tried\..*\*Let in\* on the page/;
  assert.match(await talk(on, "boss", `/pair approve ${code}`), shut);
  assert.match(await talk(on, "boss", `/pair deny ${code}`), shut);
  await assert.rejects(decided(on, gateway.denyPairing({ who: code })), shut);
  assert.equal(await talk(on, "boss", "/pair deny eve"), "eve is not let in, and hears nothing of it.");
});
