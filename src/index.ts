// The public API, an explicit list of names: what authors of platforms, agents, tools and stores write against, and what
// it takes to compose a gateway of one's own. The contract suites for what they write are in `everturn/testing`.

// Words of the house
export { type BootId, Bug, type Instant, type ItemId, type SessionId, type TurnId, later } from "./core/ids.ts";
export { Fault, type FaultCode, sentenceOf } from "./core/fault.ts";
export { limits } from "./core/limits.ts";
export {
  type Address,
  type Body,
  type FileRef,
  type Inbound,
  type Message,
  type NewMessage,
  type Question,
  formatAddress,
  parseAddress,
  textOf,
} from "./core/message.ts";

// For platforms
export type { Accept, Can, DraftMessages, Inlet, Pace, Platform, Receipt, Surroundings } from "./ports/platform.ts";
export type { Routes } from "./ports/http.ts";
export type { InDoubtPolicy, ItemState, OutboxItem, SendResult } from "./core/outbox.ts";
export { toParts } from "./core/parts.ts";

// For agents and tools
export type { Agent, AgentJob, Models, Step, Summary } from "./ports/agent.ts";
export type { Rule, Verdict } from "./core/approval.ts";
export type { Memory, Recalled } from "./core/memory.ts";
export type { Budget, Spent, Usage } from "./core/usage.ts";
export type { Tool, ToolContext, VetContext } from "./ports/tool.ts";
export type { Entry, ToolCall, ToolEffect, ToolResult, Wish } from "./core/journal.ts";

// For stores
export type {
  Archive,
  AskedLine,
  Counts,
  EntryLine,
  ItemFilter,
  SessionFilter,
  SessionLine,
  Store,
  TurnFilter,
  UsageFilter,
  UsageLine,
} from "./ports/store.ts";
export type { Change, CommitResult } from "./core/change.ts";
export { type Boot, type BootStory, type Phase, type StopFacts, newBoot } from "./core/recovery.ts";
export type { OpenQuestion } from "./core/route.ts";
export type { Resume, ResumeReason, Session } from "./core/session.ts";
export type { Timer } from "./core/timer.ts";
export type { Outcome, ParkCause, Turn, TurnState } from "./core/turn.ts";

// The gateway itself
export { type GatewayOptions, gateway } from "./engine/gateway.ts";
export type { PlatformSettings, Settings } from "./engine/parts.ts";
export type { BusyPolicy } from "./core/lane.ts";
export type { StopIntent } from "./core/lifecycle.ts";
export type {
  Ending,
  Gateway,
  GatewayEvent,
  GatewayState,
  GatewayStatus,
  PlatformStatus,
  RestartAsk,
} from "./ports/gateway.ts";
export type { Processes } from "./ports/processes.ts";
export type { Facts, LogLevel, World } from "./ports/world.ts";
export { type SqliteOptions, type SqliteStore, openSqliteStore } from "./stores/sqlite/index.ts";
export { realWorld } from "./world.ts";
