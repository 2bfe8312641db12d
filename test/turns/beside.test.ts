// What goes on beside the turn that a command is about, commands in the background and further questions: /status tells
// of it, and /stop ends one thing after the other and says what is left.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../../src/core/message.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { type Stage, stage } from "../stop/stage.ts";
import { agentOf, calling, fine, texts, tool, untilAsked, untilSeen } from "./agents.ts";

/** What runs in the background, by place; ended when it is asked for, but for what is stubborn. */
function busy(...running: string[]) {
  const left = new Set(running);
  const asked: string[] = [];
  const more: Partial<Agent> = {
    async activity({ chat }: Address) {
      return [...left].filter((one) => one.startsWith(`${chat} `));
    },
    async stopActivity({ chat }: Address) {
      asked.push(chat);
      const ended = [...left].filter((one) => one.startsWith(`${chat} `) && !one.includes("stubborn"));
      for (const one of ended) left.delete(one);
      return ended;
    },
  };
  return { left, asked, more };
}

async function ask(on: Stage, command: string): Promise<string> {
  const before = texts(on).length;
  await on.say(command);
  return (await untilSeen(on, before + 1))[before]?.text ?? "";
}

const hanging = () => new Promise<never>(() => undefined);

test("/status tells what runs in the background here, and keeps secrets to itself", async (t) => {
  const on = await stage(t);
  const { more } = busy("a make all --key=planted", "b make other");
  const hide = (text: string) => text.replaceAll("planted", "[secret]");
  await on.start({ agent: agentOf([], [], more), hide });
  assert.equal(
    await ask(on, "/status"),
    "I am not working on anything here. Nothing waits.\nIn the background:\n- a make all --key=[secret]",
  );
});

test("/stop ends the turn first and says what goes on, then that, then there is nothing", async (t) => {
  const on = await stage(t);
  const { left, asked, more } = busy("a make", "a test", "b make");
  await on.start({ agent: agentOf([], [hanging], more) });
  await on.say("go");
  await on.pass(100);
  assert.equal(
    await ask(on, "/stop"),
    "Stopped.\nThis goes on in the background; /stop once more ends it:\n- a make\n- a test",
  );
  assert.deepEqual([[...left], asked], [["a make", "a test", "b make"], []], "only the turn was ended");
  assert.equal(await ask(on, "/stop"), "Stopped in the background:\n- a make\n- a test");
  assert.deepEqual([...left], ["b make"], "that of another place goes on");
  assert.equal(await ask(on, "/stop"), "There is nothing to stop.");
});

test("/new leaves it, and what does not end is told", async (t) => {
  const on = await stage(t);
  const { more } = busy("a make", "a stubborn");
  await on.start({ agent: agentOf([], [], more) });
  await ask(on, "/new");
  assert.match(await ask(on, "/status"), /In the background:\n- a make\n- a stubborn$/);
  assert.equal(
    await ask(on, "/stop"),
    "Stopped in the background:\n- a make\n1 of 2 did not end. /status tells which.",
  );
  assert.equal(await ask(on, "/stop"), "What runs in the background did not end:\n- a stubborn");
});

for (const [name, activity] of [
  ["does not answer", hanging],
  ["fails", () => Promise.reject(new Error("no folder"))],
] as const) {
  test(`an agent that ${name} keeps nobody from stopping`, async (t) => {
    const on = await stage(t);
    await on.start({ agent: agentOf([], [hanging], { activity, stopActivity: activity }) });
    await on.say("go");
    await on.pass(100);
    const from = on.now();
    assert.equal(await ask(on, "/stop"), "Stopped.");
    assert.ok(on.now() - from < 5_000, `${on.now() - from} ms`);
    assert.equal(await ask(on, "/stop"), "There is nothing to stop.");
  });
}

test("/stop withdraws the latest of what is asked, and says that another waits", async (t) => {
  const on = await stage(t);
  let asked = 0;
  const what = () => `rm ${++asked}`;
  const rm = tool("rm", "once", () => fine, {
    vet: async () => ({ type: "approve", why: "it deletes", what: what(), bound: "b", subject: null }),
  });
  await on.start({ agent: agentOf([rm], [calling("rm")]) });
  await on.say("one");
  await untilAsked(on);
  await on.say("two");
  await untilAsked(on, 2);
  assert.equal(
    await ask(on, "/stop"),
    "Stopped. The question is withdrawn. That was: rm 2\nOne thing waits to be allowed: /approve or /deny.",
  );
  assert.equal(await ask(on, "/stop"), "Stopped. The question is withdrawn.");
  assert.equal(await ask(on, "/stop"), "There is nothing to stop.");
});
