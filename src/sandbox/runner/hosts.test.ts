import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isGranted, parseDestination } from "./hosts.ts";

describe("granted destinations", () => {
  const cases: readonly (readonly [host: string, port: number, hosts: string, granted: boolean])[] = [
    ["pypi.org", 443, "pypi.org", true],
    ["pypi.org", 8443, "pypi.org", true],
    ["files.pypi.org", 443, "pypi.org", false],
    ["evilpypi.org", 443, "pypi.org", false],
    ["pypi.org.evil.net", 443, "pypi.org", false],
    ["pypi.org", 443, "PyPI.org.", true],
    ["pypi.org", 443, "pypi.org:443", true],
    ["pypi.org", 80, "pypi.org:443", false],
    ["a.example.org", 443, "*.example.org", true],
    ["a.b.example.org", 443, "*.example.org", true],
    ["example.org", 443, "*.example.org", false],
    ["aexample.org", 443, "*.example.org", false],
    ["a.example.org", 22, "*.example.org:443", false],
    ["1.2.3.4", 443, "*.3.4", false],
    ["1.2.3.4", 443, "1.2.3.4", true],
    ["2a00::1", 443, "[2a00::1]:443", true],
    ["anything.net", 1234, "*", true],
    ["mail.net", 25, "*", false],
    ["mail.net", 25, "mail.net", false],
    ["mail.net", 25, "mail.net:25", true],
    ["anything.net", 443, "", false],
    ["anything.net", 443, "*:80", false],
  ];
  for (const [host, port, hosts, granted] of cases)
    test(`${host}:${port} by "${hosts}"`, () => assert.equal(isGranted({ host, port }, [hosts]), granted));
});

describe("what a proxy is asked for", () => {
  const cases: readonly (readonly [text: string, to: string | null])[] = [
    ["example.org:443", "example.org 443"],
    ["EXAMPLE.org.:443", "example.org 443"],
    ["[2a00::1]:443", "2a00::1 443"],
    ["example.org", null],
    ["example.org:0", null],
    ["example.org:65536", null],
    ["exa mple.org:443", null],
    ["user@example.org:443", null],
    ["example.org/x:443", null],
    ["%6cocalhost:80", null],
    [":443", null],
  ];
  for (const [text, to] of cases)
    test(text, () => {
      const found = parseDestination(text);
      assert.equal(found === null ? null : `${found.host} ${found.port}`, to);
    });
});
