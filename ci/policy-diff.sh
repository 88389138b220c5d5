#!/usr/bin/env bash
# Compares the specs of the work tree with those of a base commit: the script of action.yml, which also runs by itself.
#
#   BASE=origin/main SPECS='policies/*.guard' TRACES=runs/ FAIL_ON=looser ci/policy-diff.sh
#
# Writes the comparison as Markdown and the diagnostics as SARIF below $OUT, and posts the comparison if COMMENT is true and
# PULL_REQUEST is a number. Fails if `--fail-on` applies, or if a spec is wrong.
set -euo pipefail

base=${BASE:?the commit to compare with}
out=${OUT:-${RUNNER_TEMP:-$(mktemp -d)}/guard}
marker='<!-- guard policy diff -->'
mkdir -p "$out/sarif"
report="$out/report.md"
read -r -a patterns <<<"$(tr '\n' ' ' <<<"${SPECS:-**/*.guard}")"
read -r -a traces <<<"$(tr '\n' ' ' <<<"${TRACES:-}")"
read -r -a kinds <<<"$(tr '\n' ' ' <<<"${FAIL_ON:-}")"

# The base as a whole, so that its specs find what they import.
git cat-file -e "$base^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$base"
before="$out/base"
git worktree prune
[ ! -e "$before" ] || git worktree remove --force "$before"
git worktree add --quiet --detach "$before" "$base"
trap 'git worktree remove --force "$before"' EXIT

arguments=()
for kind in ${kinds[@]+"${kinds[@]}"}; do arguments+=(--fail-on "$kind"); done
if [ ${#traces[@]} -gt 0 ]; then arguments+=(--traces "${traces[@]}"); fi

# Specs that exist now, and those that existed before.
list() { git -C "$1" ls-files -z -- "${patterns[@]/#/:(glob)}" | tr '\0' '\n'; }
status=0
fail() { [ "$status" -ge "$1" ] || status=$1; }
{
  echo "$marker"
  changed=0
  while IFS= read -r spec; do
    if [ ! -e "$spec" ]; then
      changed=1
      printf '## `%s`\n\nThe spec was removed: nothing of it is checked any more.\n\n' "$spec"
      case " ${kinds[*]-} " in *' looser '*) fail 1 ;; esac
      continue
    fi
    number=$(printf %s "$spec" | cksum | cut -d' ' -f1)
    guard check --format sarif "$spec" >"$out/sarif/check-$number.sarif" || true
    if [ ${#traces[@]} -gt 0 ]; then
      guard audit "$spec" "${traces[@]}" --format sarif -o "$out/sarif/audit-$number.sarif" 2>/dev/null || true
    fi
    if [ ! -e "$before/$spec" ]; then
      changed=1
      printf '## `%s`\n\nA new spec.\n\n' "$spec"
      guard check "$spec" >/dev/null 2>&1 || fail 2
      continue
    fi
    code=0
    compared=$(guard diff "$before/$spec" "$spec" --format markdown ${arguments[@]+"${arguments[@]}"} 2>"$out/errors.txt") || code=$?
    case $code in
    0 | 3) ;;
    1) fail 1 ;;
    *)
      fail 2
      compared=$(printf 'The specs cannot be compared:\n\n~~~text\n%s\n~~~\n' "$(cat "$out/errors.txt")")
      ;;
    esac
    # A spec in which nothing changed is not worth a heading.
    if [ "$code" -eq 0 ] && cmp -s "$before/$spec" "$spec" && ! grep -q '^|' <<<"$compared"; then continue; fi
    changed=1
    printf '## `%s`\n\n%s\n\n' "$spec" "$compared"
  done < <({ list .; list "$before"; } | sort -u)
  [ "$changed" -eq 1 ] || echo "No spec changed."
} >"$report"

# A comment has at most 65,536 characters.
if [ "$(wc -c <"$report")" -gt 60000 ]; then
  head -c 60000 "$report" | iconv -f UTF-8 -t UTF-8 -c >"$report.cut"
  printf '\n\nThe rest is in the log of the job.\n' >>"$report.cut"
  cat "$report"
  mv "$report.cut" "$report"
fi
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$report" >>"$GITHUB_STEP_SUMMARY"
[ -z "${GITHUB_OUTPUT:-}" ] || printf 'report=%s\nsarif=%s\n' "$report" "$out/sarif" >>"$GITHUB_OUTPUT"
if [ "${COMMENT:-false}" = true ] && [ -n "${PULL_REQUEST:-}" ]; then
  comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
  known=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | head -n1)
  if [ -n "$known" ]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" -F body=@"$report" >/dev/null
  else
    gh api --method POST "$comments" -F body=@"$report" >/dev/null
  fi
else
  cat "$report"
fi
exit "$status"
