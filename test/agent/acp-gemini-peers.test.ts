// Gemini CLI as an ACP agent, with a fake of Google's generateContent.

import { acpPeerSuite } from "./acp-peer-suite.ts";

await acpPeerSuite({
  name: "gemini-cli",
  login: ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
  words: ["--acp"],
  env: (url) => ({
    GEMINI_API_KEY: "planted-provider-key-4711",
    GOOGLE_GEMINI_BASE_URL: url,
    // Without it no MCP server is started.
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  }),
  // It overwrites a session that it loads in the minute in which it made it.
  mayForget: true,
  // It asks which of its models suits a message, and wants one of these two schemas.
  aside: JSON.stringify({
    reasoning: "It is simple.",
    model_choice: "flash",
    complexity_reasoning: "It is simple.",
    complexity_score: 10,
  }),
  call: (command) => ({ name: "run_shell_command", input: { command, description: "As the user wants" } }),
});
