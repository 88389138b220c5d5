#!/usr/bin/env bash
# Packages the extension and tries it in VS Code: run.sh GUARD [PICTURES], with the variables that install.sh prints. The folder
# PICTURES gets those of editors/README.md.
set -euo pipefail
pictures=${2:+$(cd "$2" && pwd)}
guard=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/.."
npm ci --silent --no-audit --no-fund
npm run --silent package -- --out "$GUARD_VSCODE/guard.vsix" | tee "$GUARD_VSCODE/package.log"
! grep -qi warning "$GUARD_VSCODE/package.log"
[ "$(stat -c %s "$GUARD_VSCODE/guard.vsix")" -lt 200000 ]
node test/protocol.mjs "$guard"
GUARD_PART=designs node test/run.mjs "$GUARD_VSCODE" "$GUARD_BROWSER" "$GUARD_VSCODE/guard.vsix" "$guard" $pictures
node test/run.mjs "$GUARD_VSCODE" "$GUARD_BROWSER" "$GUARD_VSCODE/guard.vsix" "$guard" $pictures
