// What the tests of a whole agent stand on: the real program with a model that is played by the test, in a home that goes
// with the test. The model, and whoever counts effects, live outside of the gateway, so it can be killed at any moment.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type FakeModels, type FakeOptions, type Script, fakeModels } from "../fakes/models/index.ts";
import { type Client, type Message, client } from "../process/client.ts";
import { type Gateway, type Settings, atEnd, newHome, runGateway, until } from "../process/stage.ts";

/** Long enough to be known as a secret, and nothing else looks like it. */
export const plantedKey = "planted-provider-key-4711";

export type Stage = {
  readonly home: string;
  readonly workspace: string;
  readonly fake: FakeModels;
  /** A life of the gateway in that home. */
  start(settings?: Settings): Promise<Life>;
};

export type Life = Gateway & {
  readonly client: Client;
  /** The next answer after those that are there, whatever happens to the gateway meanwhile. */
  ask(chat: string, id: string, text: string): Promise<string>;
};

export type StageSettings = {
  /** Lines of YAML below `agent:`, indented by two spaces. */
  readonly agent?: string;
  /** Further lines of the configuration. */
  readonly more?: string;
  readonly dotenv?: string;
  readonly fake?: FakeOptions;
  readonly model?: string;
};

export async function openStage(t: TestContext, script: Script, settings: StageSettings = {}): Promise<Stage> {
  const home = newHome(t);
  const fake = await fakeModels(script, settings.fake);
  atEnd(t, () => fake.close());
  const { model = "openai/fake-model" } = settings;
  const protocol = model.startsWith("anthropic/") ? "anthropic" : "openai";
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(
    join(home, "config.yaml"),
    [
      "agent:",
      `  model: ${model}`,
      `  baseUrl: ${fake.baseUrl(protocol)}`,
      `  apiKey: ${plantedKey}`,
      ...(settings.agent === undefined ? [] : [settings.agent]),
      ...(settings.more === undefined ? [] : [settings.more]),
      "",
    ].join("\n"),
  );
  if (settings.dotenv !== undefined) writeFileSync(join(home, ".env"), settings.dotenv, { mode: 0o600 });
  return {
    home,
    workspace: join(home, "workspace"),
    fake,
    async start(how) {
      const gateway = await runGateway(t, home, how);
      const own = client(gateway);
      return {
        ...gateway,
        client: own,
        async ask(chat, id, text) {
          await own.send(chat, id, text);
          return answerTo(own, chat, id);
        },
      };
    },
  };
}

/** What the assistant said to a message, when its turn is over. */
export async function answerTo(own: Client, chat: string, id: string): Promise<string> {
  const found = await until(
    () => after(own, chat, id),
    (all) => all.some((one) => one.role === "assistant" && one.question === undefined),
    () => `message ${id} is answered`,
  );
  return found.find((one) => one.role === "assistant" && one.question === undefined)?.text ?? "";
}

/** A question that is asked after a message. */
export async function questionAfter(own: Client, chat: string, id: string, nth = 1): Promise<Message> {
  const asked = (all: readonly Message[]) => all.filter((one) => one.question !== undefined);
  const found = await until(
    () => after(own, chat, id),
    (all) => asked(all).length >= nth,
    () => `message ${id} leads to question ${nth}`,
  );
  return asked(found)[nth - 1] as Message;
}

async function after(own: Client, chat: string, id: string): Promise<readonly Message[]> {
  const all = await own.transcript(chat).catch(() => []);
  const at = all.findIndex((one) => one.role === "user" && one.key.endsWith(id));
  return at < 0 ? [] : all.slice(at + 1);
}

/** What the model is told to do by `follow`: the calls one after another. */
export function doing(...calls: readonly { readonly tool: string; readonly input: unknown }[]): string {
  return `Please work.\ndo: ${JSON.stringify(calls)}`;
}

export const terminal = (command: string, more: Readonly<Record<string, unknown>> = {}) => ({
  tool: "terminal",
  input: { command, ...more },
});
