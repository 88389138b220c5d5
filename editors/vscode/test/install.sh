#!/usr/bin/env bash
# Installs, below a folder, what `run.mjs` tries the extension in, and prints what to set: VS Code as a server (`code-server` of npm)
# and a browser that puppeteer drives.
#
#     eval "$(editors/vscode/test/install.sh target/vscode)" && editors/vscode/test/run.sh target/debug/guard
#
# Scripts of packages are not run: one of them downloads ripgrep, which is the one of the machine here. Three modules are built; without
# the fourth, `spdlog`, the server logs to its output.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "${1:-target/vscode}" && cd "${1:-target/vscode}" && pwd)
gyp=$(npm root --global)/npm/node_modules/node-gyp/bin/node-gyp.js
build() {
  local headers=()
  [ -d /usr/include/node ] && headers=(--nodedir=/usr)
  (cd "$1" && shift && node "$gyp" rebuild "${headers[@]}" "$@")
}
{
  command -v rg || { [ "$(id -u)" -eq 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends ripgrep; }
  cd "$folder"
  [ -f package.json ] || echo '{"private":true}' >package.json
  npm install --silent --no-audit --no-fund --ignore-scripts puppeteer-core@24.43.1 code-server@4.100.3
  binding=node_modules/argon2/lib/binding/napi-v3
  if [ ! -e $binding/argon2.node ]; then
    build node_modules/argon2 --module_name=argon2 --module_path=build/Release --napi_build_version=3
    mkdir -p $binding
    cp node_modules/argon2/build/Release/argon2.node $binding/
  fi
  cd node_modules/code-server/lib/vscode
  if [ ! -e node_modules.asar ]; then
    npm install --silent --no-audit --no-fund --omit=dev --ignore-scripts
    build node_modules/native-watchdog
    build node_modules/node-pty
    mkdir -p node_modules/@vscode/ripgrep/bin
    ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
    ln -s node_modules node_modules.asar
  fi
} >&2
echo "export GUARD_VSCODE='$folder'"
"$here/../../../tests/page/install.sh" "$folder/page" | grep GUARD_BROWSER
