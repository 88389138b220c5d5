#!/usr/bin/env bash
# Installs, below a folder, the packages that `tests/it/recipes.rs`, `claude_code.rs` and `npm_client.rs` try the product with, and prints what
# to set so that the tests find them. Without them these tests say what they lack and are skipped.
#
#     eval "$(tests/agents/install.sh target/agents)" && cargo test --test it -- recipes:: claude_code:: npm_client::
set -euo pipefail
folder=$(mkdir -p "${1:-target/agents}" && cd "${1:-target/agents}" && pwd)
{
  [ -d "$folder/venv" ] || python3 -m venv --system-site-packages "$folder/venv"
  "$folder/venv/bin/pip" install --quiet mcp==2.3.0 langchain==1.4.7 langgraph==1.2.22 openai-agents==0.24.0
  cd "$folder"
  [ -f package.json ] || echo '{"private":true}' > package.json
  npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 tsx@4.23.15 typescript@5.9.3 @types/node@18.19.130 \
    @anthropic-ai/claude-code@2.1.197 @anthropic-ai/claude-agent-sdk@0.3.329
} >&2
# A program that does not run on this machine is as good as none.
runs() { timeout 60 "$@" >/dev/null 2>&1; }
runs "$folder/venv/bin/python" -c 'import mcp, langchain, langgraph, agents'
sdk="$folder/node_modules/@anthropic-ai/claude-agent-sdk"
runs "$sdk"-*/claude --version || rm -rf "$sdk"
echo "export PATH='$folder/venv/bin':\$PATH"
echo "export GUARD_NODE_MODULES='$folder/node_modules'"
for program in "$folder"/node_modules/@anthropic-ai/claude-code-*/claude; do
  runs "$program" --version && echo "export GUARD_CLAUDE_CODE='$program'"
done
exit 0
