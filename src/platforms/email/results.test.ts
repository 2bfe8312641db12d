import assert from "node:assert/strict";
import { test } from "node:test";
import { doubtOf, parseResults } from "./results.ts";

test("results are read by their grammar", () => {
  const read = (value: string) => {
    const { server, clauses, isBroken } = parseResults(value);
    return [
      server,
      clauses.map(({ method, result, props }) => [method, result, Object.fromEntries(props)]),
      ...(isBroken ? ["broken"] : []),
    ];
  };
  const rows: readonly (readonly [string, readonly unknown[]])[] = [
    ["mx.Example.net 1; none", ["mx.example.net", []]],
    [
      'mx; spf=pass (a (b; dmarc=pass) \\) c) smtp.mailfrom=a@b.c; dkim/1 = fail reason="x; dmarc=pass" header.d=b.c',
      [
        "mx",
        [
          ["spf", "pass", { "smtp.mailfrom": "a@b.c" }],
          ["dkim", "fail", { reason: '"', "header.d": "b.c" }],
        ],
      ],
    ],
    [
      "spf=pass smtp.mailfrom=a; dmarc=fail",
      [
        "",
        [
          ["spf", "pass", { "smtp.mailfrom": "a" }],
          ["dmarc", "fail", {}],
        ],
      ],
    ],
    ["mx; spf=pass smtp.mailfrom=dmarc=pass@e.c", ["mx", [["spf", "pass", { "smtp.mailfrom": "dmarc=pass@e.c" }]]]],
    ["mx (a comment) ; dkim=pass header.d=a.b header.d=c.d", ["mx", [["dkim", "pass", { "header.d": "a.b" }]]]],
    ["mx; spf=pass smtp.mailfrom=(a@b.c; dmarc=fail", ["mx", [["spf", "pass", { "smtp.mailfrom": "" }]], "broken"]],
    ['mx; spf=pass smtp.mailfrom="a; dmarc=fail', ["mx", [["spf", "pass", { "smtp.mailfrom": '"' }]], "broken"]],
    ["", ["", []]],
  ];
  for (const [value, expected] of rows) assert.deepEqual(read(value), expected, value);
});

test("who is believed", () => {
  const from = "admin@victim.org";
  type Row = readonly [what: string, headers: readonly string[], auto: boolean, named: boolean, require: boolean];
  const evil = "dkim=pass header.i=@evil.com header.s=s1; spf=pass smtp.mailfrom=x@evil.com";
  // Believed with auto, with auto and the server's name, and with require and its name.
  const rows: readonly Row[] = [
    ["nobody looked", [], true, true, false],
    ["nothing was found", ["mx; none"], true, true, false],
    ["passed", ["mx; dmarc=pass header.from=victim.org"], true, true, true],
    ["passed, the name in other letters", ["MX; dmarc=pass header.from=victim.org"], true, true, true],
    ["passed, without saying whom", ["mx; dmarc=pass"], true, true, true],
    ["passed, for somebody else", ["mx; dmarc=pass header.from=evil.com"], true, true, false],
    ["failed", [`mx; ${evil}; dmarc=fail (p=NONE) header.from=victim.org`], false, false, false],
    [
      "a result as the name of a sender",
      [
        "mx; spf=pass (domain of dmarc=pass@evil.com) smtp.mailfrom=dmarc=pass@evil.com; dmarc=fail header.from=victim.org",
      ],
      false,
      false,
      false,
    ],
    [
      "the same, where nobody asked for the policy",
      ["mx; spf=pass smtp.mailfrom=dmarc=pass@evil.com"],
      true,
      true,
      false,
    ],
    ["a result in quotes", ['mx; spf=pass smtp.mailfrom="; dmarc=pass; "@evil.com'], true, true, false],
    ["a result in a comment", ["mx; spf=pass (; dmarc=pass;) smtp.mailfrom=a@evil.com"], true, true, false],
    [
      "a result between results",
      ["mx; spf=pass smtp.mailfrom=x; dmarc=pass; y@evil.com; dmarc=fail"],
      false,
      false,
      false,
    ],
    [
      "a domain before the @",
      ["mx; dkim=pass header.i=victim.org@evil.com header.d=evil.com; spf=fail"],
      false,
      false,
      false,
    ],
    ["the same alone", ["mx; dkim=pass header.i=victim.org@evil.com"], true, true, false],
    ["a comment that never ends", ["mx; spf=pass smtp.mailfrom=(x@evil.com; dmarc=fail"], false, false, false],
    ["of another server", ["whatever; dmarc=pass header.from=victim.org"], true, true, false],
    ["failed, of another server", ["whatever; dmarc=fail"], false, true, false],
    ["brought along, below", ["mx; dmarc=fail", "mx; dmarc=pass"], false, false, false],
    ["brought along, below, of another server", ["mx; dmarc=fail", "other; dmarc=pass"], false, false, false],
    ["of a relay of ours, above", ["relay; none", "mx; dmarc=fail"], true, false, false],
    ["spf failed", ["mx; spf=fail"], false, false, false],
    ["spf failed on the way, signed by the domain", ["mx; spf=fail; dkim=pass header.d=victim.org"], true, true, true],
    ["no policy, signed by the domain", ["mx; dmarc=none; dkim=pass header.i=@victim.org"], true, true, true],
    ["signed by two", ["mx; dkim=pass header.d=evil.com; dkim=pass header.d=victim.org"], true, true, true],
    [
      "a broken signature of the domain",
      ["mx; dkim=fail header.d=victim.org; dkim=pass header.d=evil.com"],
      false,
      false,
      false,
    ],
    ["signed by another domain", ["mx; dkim=pass header.d=evil.com"], true, true, false],
    ["signed by a look-alike", ["mx; dkim=pass header.d=tim.org"], true, true, false],
    ["signed by all of org", ["mx; dkim=pass header.d=org"], true, true, false],
    ["could not be looked up", ["mx; dmarc=temperror; dkim=pass header.d=victim.org"], true, true, false],
  ];
  for (const [what, headers, auto, named, require] of rows) {
    assert.equal(doubtOf(from, "auto", null, headers) === null, auto, `auto: ${what}`);
    assert.equal(doubtOf(from, "auto", "mx", headers) === null, named, `auto, named: ${what}`);
    assert.equal(doubtOf(from, "require", "mx", headers) === null, require, `require: ${what}`);
    assert.notEqual(doubtOf(from, "require", null, headers), null, `require without a name: ${what}`);
    assert.equal(doubtOf(from, "off", null, headers), null, `off: ${what}`);
  }
});
