#!/usr/bin/env node
// The Claude Agent SDK in the place of Claude Code, for `claude_code.py`: it takes its hooks from the settings of the project.
// `GUARD_NODE_MODULES` names the folder in which the package is.

import path from "node:path";
import { pathToFileURL } from "node:url";

const sdk = path.join(process.env.GUARD_NODE_MODULES, "@anthropic-ai/claude-agent-sdk/sdk.mjs");
const { query } = await import(pathToFileURL(sdk).href);
const options = {
  cwd: process.cwd(),
  settingSources: ["project"],
  permissionMode: "bypassPermissions",
  allowDangerouslySkipPermissions: true,
};
let last;
for await (const message of query({ prompt: "deploy, please", options })) {
  if (message.type === "result") last = message;
}
console.log(JSON.stringify({ result: last.result, is_error: last.is_error }));
