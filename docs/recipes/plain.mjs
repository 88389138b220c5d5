// TypeScript and JavaScript: every tool call of a loop goes through the guard.
//
//     npm install @guard-lang/client
//     node plain.mjs 127.0.0.1:7437

import { Denied, GuardClient } from "@guard-lang/client";

const tools = {
  look_up: ({ order }) => `order ${order}: 20 EUR`,
  refund: ({ order }) => `refunded ${order}`,
};

// what a model would ask for
const wanted = [["refund", { order: 7 }], ["look_up", { order: 7 }], ["refund", { order: 7 }], ["refund", { order: 8 }]];
const client = new GuardClient({ address: process.argv[2] });
const session = client.session("javascript");
for (const [tool, args] of wanted) {
  try {
    console.log(tool, await session.call(tool, args, () => tools[tool](args)));
  } catch (error) {
    if (!(error instanceof Denied)) throw error;
    console.log(tool, "denied:", error.message);
  }
}
await session.end();
client.close();
