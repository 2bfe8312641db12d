// The events of rooms as people see them: with their last edit, and without what was taken away.

export type Content = Readonly<Record<string, unknown>>;
export type FakeEvent = {
  readonly n: number;
  readonly room: string;
  readonly event_id: string;
  readonly type: string;
  readonly sender: string;
  readonly origin_server_ts: number;
  readonly content: Content;
  readonly state_key?: string;
  readonly unsigned?: { readonly transaction_id: string };
};

/** What one account has written in a room. */
export function shownIn(events: readonly FakeEvent[], room: string, user: string) {
  const gone = new Set(
    events.filter(({ type }) => type === "m.room.redaction").map(({ content }) => content["redacts"]),
  );
  const all = events.filter((one) => one.room === room && one.type === "m.room.message" && one.sender === user);
  const relation = (one: FakeEvent) => (one.content["m.relates_to"] ?? {}) as Content;
  const edits = all.filter((one) => relation(one)["rel_type"] === "m.replace");
  return all
    .filter((one) => !edits.includes(one) && !gone.has(one.event_id))
    .map((one) => {
      const last = edits.findLast((edit) => relation(edit)["event_id"] === one.event_id);
      const content = (last === undefined ? one.content : last.content["m.new_content"]) as Content;
      return { id: one.event_id, text: String(content["body"]), content: one.content };
    });
}

/** One event; empty when it was taken away. */
export function found(events: readonly FakeEvent[], id: string) {
  const gone = events.find(({ type, content }) => type === "m.room.redaction" && content["redacts"] === id);
  const event = events.find((one) => one.event_id === id);
  if (event === undefined || gone === undefined) return event;
  return { ...event, content: {}, unsigned: { redacted_because: gone } };
}
