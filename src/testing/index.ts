// `everturn/testing`: one contract suite per port, for authors of stores, platforms, agents and tools. Each registers
// tests with node:test; call it in a test file of your own.

export { type AgentTrial, type OpenedAgent, agentSuite } from "./agent.ts";
export { platformSuite } from "./platform/index.ts";
export type { Failure, OpenPlatform, OpenedPlatform, Receipt } from "./platform/driver.ts";
export { storeSuite } from "./store/index.ts";
export type { OpenStore, OpenedStore } from "./store/steps.ts";
export { type OpenedTool, type ToolTrial, toolSuite } from "./tool.ts";
export { type OpenWorld, type OpenedWorld, worldSuite } from "./world.ts";
