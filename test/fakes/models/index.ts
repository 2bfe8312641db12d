// Fakes of model providers: one server that speaks OpenAI chat completions and responses, Anthropic messages and Google's
// generateContent as the services do, and refuses what they refuse (a tool call without its result, a repeated id).
//
//   const fake = await fakeModels(({ seen, nth }) => nth === 1 ? { calls: [{ name: "read_file", input: { path: "a" } }] }
//     : { text: `the file says ${seen.messages.at(-1)?.results[0]?.text}` });
//   … { model: "openai/gpt-x", providers: { openai: { keys: ["k"], baseUrl: fake.baseUrl("openai") } } } …
//   fake.requests[0].seen.system   // what was asked, read the same way for every protocol; .body is the raw request
//
// A script is a function from a request to a plan (plan.ts): an answer `{ text, thinking, calls, usage, finish }`, streamed
// in frames of `grain` characters, one every `everyMs`, with a fault `break: { at: frame, how }` (disconnect, end, hang,
// malformed, error); or a refusal `{ status, body, headers }`, for example 429 with retry-after or a proxy's HTML page; or
// `{ dead: "hang" | "reset" }`. `keys` in the options lets only these keys in, `models` is what GET /models lists, `ears`
// understands what is sent to /audio/transcriptions (speech.ts); `fake.recordings` is what was.
// As a process: `node test/fakes/models/serve.ts <scenario | module that exports script> [port]` prints {"url":…};
// GET /__requests gives { count, requests }. The scenario `follow` makes the tool calls that the user's message lists.

export { anthropicError } from "./anthropic.ts";
export { openaiError } from "./openai.ts";
export type { Answer, Asked, Call, Plan, Script, Seen } from "./plan.ts";
export { follow, scenarios } from "./scenarios.ts";
export type { Ears, Recording } from "./speech.ts";
export { type FakeModels, type FakeOptions, fakeModels } from "./server.ts";
