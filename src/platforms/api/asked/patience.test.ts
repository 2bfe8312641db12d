import assert from "node:assert/strict";
import { table } from "../../../testing/table.ts";
import { apiLimits } from "../api.ts";
import { patienceOf, wantsStream } from "./patience.ts";

const { waitMs, blanksAfterPings: direct, blanksAfterPingsProxied: proxied } = apiLimits;

table(
  "how long a caller waits",
  [
    { name: "says nothing", headers: {}, deadline: waitMs, blanksAfter: direct, holdUntil: 5_000 },
    {
      name: "ten minutes",
      headers: { "x-stainless-timeout": "600" },
      deadline: waitMs,
      blanksAfter: direct,
      holdUntil: 5_000,
    },
    { name: "20 s", headers: { "x-stainless-timeout": "20" }, deadline: 19_000, blanksAfter: direct, holdUntil: 5_000 },
    { name: "1 s", headers: { "x-stainless-timeout": "1" }, deadline: 500, blanksAfter: direct, holdUntil: 500 },
    {
      name: "Python",
      headers: { "x-stainless-read-timeout": "20" },
      deadline: 19_000,
      blanksAfter: direct,
      holdUntil: 5_000,
    },
    {
      name: "nonsense",
      headers: { "x-stainless-timeout": "soon" },
      deadline: waitMs,
      blanksAfter: direct,
      holdUntil: 5_000,
    },
    { name: "by a proxy", headers: { via: "1.1 x" }, deadline: waitMs, blanksAfter: proxied, holdUntil: 5_000 },
    {
      name: "by a proxy, for longer than its silence",
      headers: { "x-forwarded-for": "::1", "x-stainless-timeout": "60" },
      deadline: waitMs,
      blanksAfter: proxied,
      holdUntil: 5_000,
    },
  ],
  ({ headers, deadline, blanksAfter, holdUntil }) => {
    const given = new Headers(headers as Record<string, string>);
    assert.deepEqual(patienceOf(given, { isStream: false, holdMs: 5_000, now: 0 }), {
      deadline,
      blanksAfter,
      holdUntil,
    });
    // A stream that has begun is not cut by the time that the caller waits for its beginning.
    assert.equal(patienceOf(given, { isStream: true, holdMs: 5_000, now: 0 }).deadline, waitMs);
  },
);

table(
  "whether a fetched answer is a stream",
  [
    { name: "plain", query: "", headers: {}, isStream: false },
    { name: "asked for", query: "stream=true", headers: {}, isStream: true },
    { name: "not asked for", query: "stream=false&after=0", headers: { accept: "text/event-stream" }, isStream: false },
    { name: "as EventSource asks", query: "", headers: { accept: "text/event-stream" }, isStream: true },
    { name: "from an event on", query: "after=0", headers: {}, isStream: true },
    { name: "from the last event on", query: "", headers: { "last-event-id": "0" }, isStream: true },
    { name: "curl", query: "", headers: { accept: "*/*" }, isStream: false },
  ],
  ({ query, headers, isStream }) =>
    assert.equal(wantsStream(new URLSearchParams(query), new Headers(headers as Record<string, string>)), isStream),
);
