// A conversation that its app repeats each time is known again only when it is exactly that one.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Instant, SessionId } from "../../../core/ids.ts";
import type { Message } from "../../../core/message.ts";
import type { Said } from "../api.ts";
import { firstText } from "../inbound.ts";
import { isSame } from "./recognise.ts";

const said = (role: Said["role"], text: string): Said => ({ role, text, files: [] });
const [u, a] = [(text: string) => said("user", text), (text: string) => said("assistant", text)];

function lines(...texts: readonly (readonly [role: Message["role"], text: string])[]): readonly Message[] {
  return texts.map(([role, text], i) => {
    return { n: i + 1, key: `k${i}`, session: "s1" as SessionId, turn: null, role, text, at: i as Instant };
  });
}

const first = firstText({ newest: u("hi"), before: [], system: ["be kind"] });
const branched = firstText({ newest: u("why?"), before: [u("hi"), a("Hello.")], system: [] });

describe("what an app tells as said before, and what was said here", () => {
  const cases: readonly (readonly [what: string, here: readonly Message[], told: readonly Said[], same: boolean])[] = [
    ["the same", lines(["user", "hi"], ["assistant", "Hello."]), [u("hi"), a("Hello.")], true],
    ["begun with the wishes of the app", lines(["user", first], ["assistant", "Hello."]), [u("hi"), a("Hello.")], true],
    ["trimmed by the app", lines(["user", "hi"], ["assistant", "Hello.\n"]), [u("hi"), a("Hello.")], true],
    [
      "an answer in two lines",
      lines(["user", "hi"], ["assistant", "A"], ["assistant", "B"]),
      [u("hi"), a("A\n\nB")],
      true,
    ],
    [
      "notices in between",
      lines(["user", "hi"], ["notice", "I restart."], ["assistant", "A"]),
      [u("hi"), a("A")],
      true,
    ],
    [
      "streamed with words on the way",
      lines(["user", "hi"], ["assistant", "5."]),
      [u("hi"), a("Let me look.\n\n5.")],
      true,
    ],
    [
      "begun with what was before",
      lines(["user", branched], ["assistant", "So."]),
      [u("hi"), a("Hello."), u("why?"), a("So.")],
      true,
    ],
    [
      "longer here",
      lines(["user", "hi"], ["assistant", "A"], ["user", "b"], ["assistant", "B"]),
      [u("hi"), a("A")],
      false,
    ],
    ["longer there", lines(["user", "hi"], ["assistant", "A"]), [u("hi"), a("A"), u("b"), a("B")], false],
    ["another answer", lines(["user", "hi"], ["assistant", "A"]), [u("hi"), a("B")], false],
    ["another beginning", lines(["user", "hi"], ["assistant", "A"]), [u("ho"), a("A")], false],
    [
      "words changed in the middle",
      lines(["user", "hi"], ["assistant", "A"], ["user", "b"], ["assistant", "B"]),
      [u("hi"), a("A"), u("c"), a("B")],
      false,
    ],
    ["not answered yet", lines(["user", "hi"]), [u("hi"), a("A")], false],
    ["nothing here", [], [u("hi"), a("A")], false],
    ["tools of the app's own", lines(["user", "hi"], ["assistant", "A"]), [u("hi"), said("tool", "x"), a("A")], false],
  ];
  for (const [what, here, told, same] of cases) test(what, () => assert.equal(isSame(here, told), same));
});
