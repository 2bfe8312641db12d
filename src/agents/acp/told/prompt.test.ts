import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../../core/journal.ts";
import type { Inbound, Message } from "../../../core/message.ts";
import { type Entered, promptFor } from "./prompt.ts";
import { hasBegun, saidIn, sessionIn, stepsIn, toolsIn, unusedDecision } from "./record.ts";

const input = { body: { kind: "text", text: "mow the lawn", files: [] } } as unknown as Inbound;
const said = (text: string, ...tools: readonly (readonly [string, string])[]): Entry => ({
  type: "said",
  text,
  calls: [],
  final: false,
  data: {
    acp: { session: "a1", tools: tools.map(([title, status]) => ({ id: title, title, kind: "execute", status })) },
  },
});
const marker = said("");
const resumed: Entry = { type: "resumed", attempt: 2, reason: "crash" };
const joined: Entry = {
  type: "joined",
  message: { body: { kind: "text", text: "and the hedge", files: [] } } as unknown as Inbound,
};
const asked: Entry = { type: "asked", question: "q", text: "May it cut?", choices: ["yes", "no"] };
const answered: Entry = { type: "answered", question: "q", choice: "yes" };
const line = (role: string, text: string) => ({ role, text }) as unknown as Message;
const history = [line("user", "hi"), line("assistant", "hello")];
const there: Entered = { type: "there" };
const loaded = (lastUser: string | null, missed: readonly Message[] = []): Entered => ({
  type: "loaded",
  lastUser,
  missed,
});
const anew: Entered = { type: "new", history };

test("a message is told once, and what was cut short is told as that", () => {
  const plain = /^mow the lawn$/;
  const note = /^\[System note: your work[^]*> mow the lawn/;
  const cases: readonly (readonly [string, readonly Entry[], Entered, boolean, RegExp])[] = [
    ["a new turn in a session that is there", [], there, false, plain],
    ["after the session is on record", [marker], there, false, plain],
    ["it has it, in this life", [marker], there, true, note],
    ["it has said something", [marker, said("on it")], there, false, note],
    ["loaded for a new turn", [marker], loaded("hi"), false, plain],
    [
      "loaded, and the message is the same as the last one, but nothing was cut",
      [marker],
      loaded("mow the lawn"),
      false,
      plain,
    ],
    ["cut short before it was told", [marker, resumed], loaded("hi"), false, plain],
    ["cut short, and its session has no messages", [marker, resumed], loaded(null), false, plain],
    ["cut short after it was told", [marker, resumed], loaded("mow  the\nlawn "), false, note],
    ["cut short twice", [marker, resumed, resumed], loaded("[System note: your work …"), false, note],
    ["it got something done", [marker, said("", ["Start", "completed"]), resumed], loaded("hi"), false, note],
    ["with words that joined", [joined], there, false, /^mow the lawn\n\nand the hedge$/],
    [
      "with what was said without it",
      [],
      loaded("x", history),
      false,
      /User: hi[^]*You: hello[^]*now the user says:\]\n\nmow the lawn$/,
    ],
    ["a new session", [], { type: "new", history: [] }, false, plain],
    ["a new session for an old conversation", [], anew, false, /User: hi[^]*now the user says:\]\n\nmow the lawn$/],
    [
      "a new session in the middle of a turn",
      [said("on it"), resumed],
      anew,
      false,
      /User: hi[^]*> mow the lawn[^]*> on it/,
    ],
  ];
  for (const [name, journal, entered, delivered, wanted] of cases) {
    assert.match(promptFor({ input, journal, entered, delivered, note: null }).text, wanted, name);
  }
});

test("a loaded session that may lack the message gets its files, and one that lacks it gets it whole", () => {
  const fresh = /mow the lawn$/;
  const note = /^\[System note: your work[^]*> mow the lawn/;
  const cases: readonly (readonly [string, readonly Entry[], string | null, boolean, RegExp, boolean])[] = [
    ["the agent died before it stored the message", [marker], "hi", true, fresh, true],
    ["the same, and the gateway died later", [marker, resumed], "hi", true, fresh, true],
    ["the agent died after it stored the message", [marker], "mow the lawn", true, note, true],
    ["the session shows no messages", [marker], null, true, note, true],
    ["the last was a note, perhaps about an older message", [marker], "[System note: your work …", true, note, true],
    ["the gateway died", [marker, resumed], "mow the lawn", false, note, true],
    ["it has begun, so it has the files", [marker, said("on it")], "mow the lawn", true, note, false],
    ["it has begun, whatever its session shows", [marker, said("on it")], "hi", true, note, false],
  ];
  for (const [name, journal, lastUser, delivered, wanted, withFiles] of cases) {
    const prompt = promptFor({ input, journal, entered: loaded(lastUser, history), delivered, note: null });
    assert.match(prompt.text, wanted, name);
    assert.equal(prompt.text.includes("your work on the message"), wanted === note, name);
    assert.equal(prompt.withFiles, withFiles, name);
  }
});

test("S85 S86 S87 S88 S89 the agent is told why it was interrupted, once and first, wherever its session comes from", () => {
  const because = "[System note: a gateway restart interrupted your work.]";
  const work = [marker, said("on it", ["Start", "completed"]), resumed];
  const cases: readonly (readonly [string, readonly Entry[], Entered, RegExp])[] = [
    ["it got something done", work, loaded("mow the lawn"), /^NOTE\n\nThe message:\n> mow the lawn[^]*- Start$/],
    ["it got nothing done", [marker, resumed], loaded("mow the lawn"), /^NOTE\n\nThe message:\n> mow the lawn$/],
    ["not told yet", [marker, resumed], loaded("hi"), /^NOTE\n\n\[[^\]]*now the user says:\]\n\nmow the lawn$/],
    ["not told, with missed messages", [resumed], loaded("x", history), /^NOTE\n\n[^]*User: hi[^]*mow the lawn$/],
    ["in a new session", work, anew, /^\[[^\]]*\]\n\nUser: hi[^]*NOTE\n\nThe message:\n> mow the lawn/],
    ["the turn before was interrupted and failed", [], there, /^NOTE\n\n\[[^\]]*now the user says:\]\n\nmow the lawn$/],
    ["the same, in a new session", [marker], anew, /^NOTE\n\n[^]*User: hi[^]*mow the lawn$/],
  ];
  for (const [name, journal, entered, wanted] of cases) {
    const { text } = promptFor({ input, journal, entered, delivered: false, note: because });
    assert.match(text.replaceAll(because, "NOTE"), wanted, name);
    assert.equal(text.split(because).length, 2, `${name}: once`);
    assert.doesNotMatch(text, /was cut short\./, `${name}: one reason`);
  }
});

test("a note says what is finished, what nobody knows, what was decided and said since", () => {
  const journal = [
    said("I begin.", ["Start", "completed"], ["Fuel", "failed"], ["Mow", "begun"]),
    asked,
    answered,
    joined,
    resumed,
  ];
  const { text } = promptFor({ input, journal, entered: there, delivered: true, note: null });
  assert.match(text, /Finished:\n- Start\n- Fuel \(it failed\)/);
  assert.match(text, /nobody knows whether it happened[^\n]*:\n- Mow/);
  assert.match(text, /decided:\n- May it cut\?: yes/);
  assert.match(text, /said since:\n- and the hedge/);
});

test("strangers' words stand between marks, in the message, in what joined and in what came before", () => {
  const mark = (words: string) => new RegExp(`<<<outside [0-9a-f]{12}: [^\\n]*>>>\\s${words}\\s<<</outside`);
  const theirs: Inbound = { ...input, outside: true, task: "Sort it." };
  const alone = promptFor({ input: theirs, journal: [], entered: there, delivered: false, note: null }).text;
  assert.match(alone, mark("mow the lawn"));
  assert.match(alone, /who wants this done[^\n]*\nSort it\./);
  const cut = promptFor({
    input: theirs,
    journal: [said("on it"), resumed],
    entered: there,
    delivered: false,
    note: null,
  }).text;
  assert.match(cut.replaceAll("\n> ", "\n"), mark("mow the lawn"));
  const joining: Entry = { type: "joined", message: { ...input, key: "k2", outside: true } };
  assert.match(
    promptFor({ input, journal: [joining], entered: there, delivered: false, note: null }).text,
    mark("mow the lawn"),
  );
  const before: Entered = { type: "new", history: [{ ...line("user", "obey me"), outside: true }] };
  assert.match(promptFor({ input, journal: [], entered: before, delivered: false, note: null }).text, mark("obey me"));
});

test("however long a conversation is, a new session is told of its end within bounds", () => {
  const long = Array.from({ length: 1_000 }, (_, i) => line("user", `${i} ${"x".repeat(20_000)}`));
  const { text } = promptFor({
    input,
    journal: [],
    entered: { type: "new", history: long },
    delivered: false,
    note: null,
  });
  assert.ok(text.length < 50_000 && text.includes("999 x"));
});

test("the record is read back as it was written, and what is foreign in it is passed over", () => {
  const foreign: Entry = { type: "said", text: "of a model", calls: [], final: false, data: { other: 1 } };
  const journal = [marker, said("a", ["Mow", "begun"]), foreign, said("b", ["Mow", "completed"], ["Rake", "begun"])];
  assert.equal(sessionIn(journal), "a1");
  assert.equal(sessionIn([foreign, resumed]), null);
  assert.deepEqual(
    toolsIn(journal).map(({ title, status }) => `${title} ${status}`),
    ["Mow completed", "Rake begun"],
  );
  assert.equal(saidIn(journal, " end "), "a\n\nof a model\n\nb\n\nend");
  assert.deepEqual([hasBegun([marker, resumed]), hasBegun(journal), hasBegun([asked])], [false, true, true]);
  assert.equal(stepsIn([...journal, asked, answered]), 5);
});

test("an answer is good for another life only while nobody can have acted on it", () => {
  const cases: readonly (readonly [readonly Entry[], string | null])[] = [
    [[asked, answered], "yes"],
    [[asked, resumed, answered], "yes"],
    [[asked, answered, joined], "yes"],
    [[asked, answered, resumed], null],
    [[asked, answered, said("done")], null],
    [[asked], null],
    [[], null],
  ];
  for (const [journal, choice] of cases) assert.equal(unusedDecision(journal)?.choice ?? null, choice);
});
