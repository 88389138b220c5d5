#!/usr/bin/env bash
# Model checking of a system of 1 000 000 states by guard and by spin, one after the other: states per second of each.
# Needs spin and a C compiler. Usage: benches/verify.sh [path of the guard binary]
set -euo pipefail
cd "$(dirname "$0")"
guard=${1:-../target/release/guard}
[ -x "$guard" ] || { echo "build it first: cargo build --release"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# seconds COMMAND…: the processor time of a command, the best of three; what else the machine does matters less to it.
seconds() {
  local best= TIMEFORMAT='%U %S'
  for _ in 1 2 3; do
    local took
    took=$({ time "$@" >"$work/out" 2>/dev/null || true; } 2>&1 | tail -1)
    best=$(echo "$took ${best:-1e9}" | awk '{ t = $1 + $2; print (t < $3) ? t : $3 }')
  done
  echo "$best"
}

rate() { awk -v s="$1" -v t="$2" 'BEGIN { printf "%10d states  %7.3f s  %10.0f states/s\n", s, t, s / t }'; }

for property in low again back; do
  t=$(seconds "$guard" verify counters.guard --property "$property" --format json)
  states=$(sed -n 's/.*"states":\([0-9]*\).*/\1/p' "$work/out")
  printf '%-6s guard  ' "$property"; rate "$states" "$t"
done

(cd "$work" && cp "$OLDPWD/counters.pml" . && spin -a counters.pml >/dev/null 2>&1)
gcc -O2 -DNOREDUCE -DMEMLIM=4096 -o "$work/pan" "$work/pan.c" 2>/dev/null
for property in low again; do
  t=$(cd "$work" && seconds ./pan -a -N "$property" -m10000000 -w22)
  states=$(awk '/states, stored/ { print int($1) }' "$work/out")
  printf '%-6s spin   ' "$property"; rate "$states" "$t"
done
