// Makes the store of this folder with a gateway of version 0.4.0: `node make.ts <checkout of 0.4.0>`. It uses that checkout's
// own fakes and leaves state.db.gz beside this file. Kept so that what is in the store can be seen and made again.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const checkout = process.env["EVERTURN_OLD"] ?? "";
/** Stands in rules and journals, so it is not the folder of whoever makes this. */
const home = "/home/ann/.everturn";

type Stage = typeof import("../../process/stage.ts");
type Clients = typeof import("../../process/client.ts");
type Models = typeof import("../../fakes/models/index.ts");
type Telegrams = typeof import("../../fakes/telegram.ts");

const load = <T>(path: string): Promise<T> => import(join(checkout, "test", path)) as Promise<T>;

test("a home of 0.4.0", { timeout: 300_000 }, async (t) => {
  const { runGateway, until } = await load<Stage>("process/stage.ts");
  const { client } = await load<Clients>("process/client.ts");
  const { fakeModels, follow } = await load<Models>("fakes/models/index.ts");
  const { FakeTelegram } = await load<Telegrams>("fakes/telegram.ts");
  let isSilent = false;
  const fake = await fakeModels(({ seen }) => (isSilent ? { dead: "hang" } : follow(seen)));
  const telegram = await FakeTelegram.start();
  rmSync("/home/ann", { recursive: true, force: true });
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const lines = (approvals: string) => `agent:
  model: openai/fake-model
  baseUrl: ${fake.baseUrl("openai")}
  apiKey: planted-provider-key-4711
  tools: { approvals: ${approvals}, terminal: { sandbox: off } }
platforms:
  telegram: { token: "${telegram.token}", apiRoot: "${telegram.url}", streaming: false, allow: [4242] }
`;
  writeFileSync(join(home, "config.yaml"), lines("dangerous"));
  const first = await runGateway(t, home);
  const own = client(first);
  const ask = async (chat: string, id: string, calls: readonly object[], choice: string): Promise<void> => {
    await own.send(chat, id, calls.length === 0 ? `Hello from ${id}` : `Please work.\ndo: ${JSON.stringify(calls)}`);
    await until(
      async () => {
        const { questions } = await own.get<{ questions: readonly { id: string }[] }>("/api/questions");
        const body = JSON.stringify({ choice });
        for (const one of questions) await own.call(`/api/questions/${one.id}/answer`, { method: "POST", body });
        return own.transcript(chat);
      },
      (all) => all.some((one) => one.role === "assistant" && one.question === undefined),
      `${id} is answered`,
    );
  };
  const terminal = (command: string) => ({ tool: "terminal", input: { command } });
  await ask("talk", "m1", [], "deny");
  await ask("work", "m2", [terminal("echo harmless > note.txt")], "deny");
  // What was allowed for good: a command with all rights, a file outside, a place on the network.
  await ask("rules", "m3", [terminal("git push origin main")], "always");
  await ask("rules2", "m4", [{ tool: "write_file", input: { path: "/home/ann/outside.txt", content: "x" } }], "always");
  await ask("rules3", "m5", [terminal("sudo true")], "always");
  await ask("memory", "m6", [{ tool: "remember", input: { text: "Ann likes green tea" } }], "deny");
  const ann = telegram.person("Ann", { id: 4_242 });
  ann.write("Hello from Telegram");
  await until(
    () => telegram.said(ann.chat),
    (said) => said.some((text) => text.includes("Hello from Telegram")),
    "Telegram is answered",
  );
  // Somebody else than the owner allowed this for everybody.
  ann.write(`Please work.\ndo: ${JSON.stringify([terminal("git push origin ann")])}`);
  await until(
    () => telegram.said(ann.chat),
    (said) => said.some((text) => text.includes("git push origin ann")),
    "it is asked",
  );
  ann.write("always");
  await until(
    () => own.get<{ rules: readonly unknown[] }>("/api/rules"),
    ({ rules }) => rules.length === 4,
    "there is a rule",
  );
  // A question that waits, a turn that is cut short, and one behind it.
  await own.send(
    "waiting",
    "m7",
    `Please work.\ndo: ${JSON.stringify([terminal("rm -rf doomed; echo gone >> ledger")])}`,
  );
  await until(
    () => own.get<{ questions: readonly unknown[] }>("/api/questions"),
    ({ questions }) => questions.length === 1,
    "a question waits",
  );
  isSilent = true;
  const before = fake.requests.length;
  await own.send("cut", "m8", "Hello before the update");
  await fake.asked(before + 1);
  await own.send("cut", "m9", "Hello behind it");
  await first.end("SIGKILL");
  await fake.close();
  await telegram.close();
  const { DatabaseSync } = await import("node:sqlite");
  const store = new DatabaseSync(join(home, "state.db"));
  store.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  for (const { name } of store.prepare("select name from sqlite_master where type = 'table'").all()) {
    t.diagnostic(String(name));
  }
  store.exec("VACUUM");
  store.close();
  const bytes = gzipSync(readFileSync(join(home, "state.db")), { level: 9 });
  writeFileSync(join(import.meta.dirname, "state.db.gz"), bytes);
  t.diagnostic(`${bytes.length} bytes`);
  rmSync("/home/ann", { recursive: true, force: true });
});
