// An MCP client and a server, both of the official TypeScript SDK, with `guard proxy` between them.
//
//     npm install @modelcontextprotocol/sdk zod tsx
//     npx tsx mcp_agent.ts guard refund.guard
//
// The client starts `guard proxy SPEC -- SERVER` where it would start `SERVER`; neither knows of the other's neighbour.

import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const HERE = fileURLToPath(import.meta.url);

// Two tools over the standard streams.
async function serve(): Promise<void> {
  const server = new McpServer({ name: "orders", version: "1.0.0" });
  const text = (text: string) => ({ content: [{ type: "text" as const, text }] });
  const inputSchema = { order: z.number().int() };
  server.registerTool("look_up", { description: "What an order cost.", inputSchema }, async ({ order }) =>
    text(`order ${order}: 20 EUR`),
  );
  server.registerTool("refund", { description: "Gives the money back.", inputSchema }, async ({ order }) =>
    text(`refunded ${order}`),
  );
  await server.connect(new StdioServerTransport());
}

// A client that refunds before it has looked.
async function ask(guard: string, spec: string): Promise<void> {
  const server = [process.execPath, ...process.execArgv, HERE, "serve"];
  const client = new Client({ name: "agent", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: guard, args: ["proxy", spec, "--", ...server] }));
  const { tools } = await client.listTools();
  console.log("tools:", tools.map((tool) => tool.name).sort().join(", "));
  const wanted: [string, number][] = [["refund", 7], ["look_up", 7], ["refund", 7], ["refund", 8]];
  for (const [name, order] of wanted) {
    const result = await client.callTool({ name, arguments: { order } });
    const [block] = result.content as { type: string; text: string }[];
    console.log(name, `${result.isError ? "denied: " : ""}${block.text}`);
  }
  await client.close();
}

const [first, spec] = process.argv.slice(2);
await (first === "serve" ? serve() : ask(first, spec));
