// What a call may do without a question, and what is asked for before it is done.

export {
  type CommandHost,
  type CommandRequest,
  type CommandSettings,
  judgeCommand,
  needWhy,
} from "./command.ts";
export { mayHoldSecrets } from "./explain.ts";
export { judgeForeign } from "./foreign.ts";
export { type Needs, type PathNeed, isVisible, needsOf } from "./needs.ts";
export { decidePath, isInside } from "./paths.ts";
export { isReadOnly } from "./read-only.ts";
export { remoteNeeds } from "./remotes.ts";
export { type SimpleCommand, readCommands } from "./shell.ts";
export { type Judgment, type Policy, dangerous, forbidden, plain, verdictOf, wider } from "./verdict.ts";
