#!/usr/bin/env bash
# The real parts that `make e2e` runs, into a cache outside the repository, once per machine:
#   otelcol                a collector with the components of deploy/collector/manifest.yaml (collector builder)
#   jaeger                 a trace backend with an API to ask (Go module)
#   prometheus, promtool   Debian's package, unpacked, not installed: nothing is started, no port is taken
# Takes about five minutes on two cores the first time, nothing after that. A part whose recipe did not change is kept.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
cache=${OTEL_EVAL_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/otel-eval-tools}
manifest=$repository/deploy/collector/manifest.yaml
builder_version=v0.161.0
jaeger_version=v1.76.0

mkdir -p "$cache/bin" "$cache/stamps" "$cache/build"
failed=0

say() { printf '%s\n' "$*"; }
missing() { say "missing: $1 — $2"; failed=1; }

# is_fresh NAME RECIPE: whether NAME was made by that very recipe.
is_fresh() { [ -x "$cache/bin/$1" ] && [ "$(cat "$cache/stamps/$1" 2>/dev/null)" = "$2" ]; }
made() { printf '%s' "$2" >"$cache/stamps/$1"; say "made: $cache/bin/$1"; }

# quietly LOG COMMAND…: the log is shown only where the command fails.
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { tail -n 20 "$log"; return 1; }
}

install_collector() {
  local recipe
  recipe="$builder_version $(sha256sum <"$manifest")"
  is_fresh otelcol "$recipe" && return
  say "building otelcol (two to three minutes)"
  local folder=$cache/build/otelcol
  mkdir -p "$folder"
  sed "s#output_path: .*#output_path: $folder#" "$manifest" >"$cache/build/manifest.yaml"
  GOBIN=$cache/bin quietly "$cache/build/builder.log" \
    go install "go.opentelemetry.io/collector/cmd/builder@$builder_version" || return 1
  quietly "$cache/build/otelcol.log" \
    nice -n 10 "$cache/bin/builder" --config "$cache/build/manifest.yaml" --ldflags="-s -w" || return 1
  mv "$folder/otelcol" "$cache/bin/otelcol"
  made otelcol "$recipe"
}

install_jaeger() {
  is_fresh jaeger "$jaeger_version" && return
  say "building jaeger (two to three minutes)"
  local folder=$cache/build/jaeger
  local program=github.com/jaegertracing/jaeger/cmd/all-in-one
  rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"
  quietly "$cache/build/jaeger.log" go mod init otel-eval-tools/jaeger || return 1
  quietly "$cache/build/jaeger.log" go get "$program@$jaeger_version" || return 1
  quietly "$cache/build/jaeger.log" nice -n 10 go build -trimpath -ldflags="-s -w" -o "$cache/bin/jaeger" "$program" || return 1
  made jaeger "$jaeger_version"
}

install_prometheus() {
  { [ -x "$cache/bin/prometheus" ] || command -v prometheus >/dev/null; } &&
    { [ -x "$cache/bin/promtool" ] || command -v promtool >/dev/null; } && return
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 1
  say "unpacking Debian's prometheus"
  local folder=$cache/build/prometheus
  rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"
  if ! apt-get download prometheus >/dev/null 2>&1; then
    quietly "$cache/build/apt.log" apt-get update -qq || return 1
    quietly "$cache/build/apt.log" apt-get download prometheus || return 1
  fi
  dpkg -x prometheus_*.deb . || return 1
  cp usr/bin/prometheus usr/bin/promtool "$cache/bin/"
  say "made: $cache/bin/prometheus, $cache/bin/promtool"
}

if command -v go >/dev/null; then
  (install_collector) || missing otelcol "the build failed, see $cache/build/otelcol.log"
  (install_jaeger) || missing jaeger "the build failed, see $cache/build/jaeger.log"
else
  missing go "install Go 1.25 or later, then run: make tools"
fi
(install_prometheus) || missing "prometheus, promtool" "apt-get install prometheus, or put version 2.42 or later on the PATH"

[ "$failed" = 0 ] && say "tools: $cache/bin"
exit "$failed"
