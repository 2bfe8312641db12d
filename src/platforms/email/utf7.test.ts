import assert from "node:assert/strict";
import { test } from "node:test";
import PostalMime from "postal-mime";
import { parseMail } from "./parse.ts";
import { decodeUtf7, utf7PartsOf, withReadableHeaders } from "./utf7.ts";

test("UTF-7 is decoded, and what only looks like it stays", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["Hi Mom +Jjo-!", "Hi Mom ☺!"],
    ["A+ImIDkQ.", "A≢Α."],
    ["+ZeVnLIqe-", "日本語"],
    ["Item 3 is +AKM-1.", "Item 3 is £1."],
    ["+2D3eAA-", "😀"],
    ["1 +- 1 = 2", "1 + 1 = 2"],
    ["1 + 1, C++", "1 + 1, C++"],
    ["+2D0-", "\ufffd"],
    ["+A", "+A"],
    ["", ""],
  ];
  for (const [text, decoded] of rows) assert.equal(decodeUtf7(text), decoded, text);
});

test("a text of plus signs is gone through once", () => {
  for (const piece of ["+", "+A", "+AOQ", "+-", "A+"]) decodeUtf7(piece.repeat(300_000));
});

test("which words of a mail are UTF-7", () => {
  const of = (text: string) => utf7PartsOf(Buffer.from(text));
  const nothing = { isText: false, isHtml: false };
  assert.deepEqual(of("Content-Type: text/plain; charset=utf-8\n\nutf-7 is old"), nothing);
  assert.deepEqual(of('Content-Type: text/plain;\n\tcharset="UTF-7"\n\nx'), { ...nothing, isText: true });
  assert.deepEqual(of("Content-type: TEXT/HTML; charset=unicode-1-1-utf-7\r\n\r\nx"), { ...nothing, isHtml: true });
  assert.deepEqual(of("Subject: a\n\ncharset=utf-7"), nothing);
  const quoted = "Content-Type: text/plain; charset=utf-7\r\n";
  assert.deepEqual(of(`Content-Type: text/plain; charset=utf-8\r\n\r\nIt said:\r\n${quoted}`), nothing);
  assert.deepEqual(of(`Subject: a\r\n\r\n--x\r\n${quoted}\r\n`), nothing, "no header announces this boundary");
  const mixed = 'Content-Type: multipart/mixed;\r\n boundary="x y"\r\n\r\n--x y\r\n';
  const inner = `${mixed}Content-Type: multipart/alternative; boundary=b\r\n\r\n  indented\r\n--b\r\n`;
  for (const head of [mixed, inner, `${inner}Content-Type: text/html\r\n\r\nx\r\n--b \r\n`]) {
    assert.deepEqual(of(`${head}${quoted}\r\nx\r\n`), { ...nothing, isText: true }, head);
    assert.deepEqual(of(`${head}Subject: a\r\n\r\n${quoted}\r\nx\r\n`), nothing, head);
  }
  assert.deepEqual(of(`${mixed}\r\nx\r\n--x y--\r\n${quoted}`), nothing, "behind the end");
  assert.deepEqual(of(`${mixed}${quoted.repeat(300_000)}`), { ...nothing, isText: true });
});

test("encoded words of headers that are UTF-7 can be read, the body stays as it is", async () => {
  const mail =
    "From: =?utf-7?Q?J+APY-rg?= <j@x.org>\r\nSubject: =?UTF-7?B?K0FPUS0=?= =?utf-7?Q?Gr+APwA3w-e_=2B-?=\r\n\r\n=?utf-7?Q?+AOQ-?=\r\n";
  const parsed = await PostalMime.parse(withReadableHeaders(Buffer.from(mail)));
  assert.deepEqual([parsed.from?.name, parsed.subject], ["Jörg", "äGrüße +"]);
  assert.equal(parsed.text?.trim(), "=?utf-7?Q?+AOQ-?=");
  const plain = Buffer.from("Subject: hello\r\n\r\nutf-7");
  assert.equal(withReadableHeaders(plain), plain, "the same bytes where there is nothing to do");
});

test("a mail that quotes a header about UTF-7 keeps its plus signs", async () => {
  const body = "Call +4930123456 please.\r\nContent-Type: text/plain; charset=utf-7\r\n";
  const mail = `From: a@x.org\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${body}`;
  assert.match((await parseMail(Buffer.from(mail))).text ?? "", /^Call \+4930123456 please\./);
});
