#!/usr/bin/env bash
# Installs, below a folder, what `tests/it/page.rs` opens pages with, and prints what to set so that the test finds it. Without a
# browser the test says so and is skipped.
#
#     eval "$(tests/page/install.sh target/page)" && cargo test --test it page::
set -euo pipefail
folder=$(mkdir -p "${1:-target/page}" && cd "${1:-target/page}" && pwd)
browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
{
  browser || { [ "$(id -u)" -eq 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }
  cd "$folder"
  [ -f package.json ] || echo '{"private":true}' >package.json
  npm install --silent --no-audit --no-fund puppeteer-core@24.43.1 axe-core@4.14.1
} >&2
echo "export GUARD_PAGE_MODULES='$folder'"
echo "export GUARD_BROWSER='$(browser)'"
