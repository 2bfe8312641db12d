// `everturn/testing`: one contract suite per port, for authors of stores, platforms, agents and tools. Each registers
// tests with node:test; call it in a test file of your own.

export { storeSuite } from "./store/index.ts";
export type { OpenStore, OpenedStore } from "./store/steps.ts";
