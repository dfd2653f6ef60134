#!/usr/bin/env bash
# Waits until a replica has nothing left to do, so that the set can be made smaller without leaving verdicts behind.
#
#   drain.sh http://prometheus:9090 otel-eval-2 [seconds]
#
# Before: take the replica out of deploy/collector/replicas.yaml and roll the collectors out, so that no new trace goes to
# it. After: kubectl scale statefulset otel-eval --replicas=2. The volume stays (whenScaled: Retain): should the set grow
# again, the replica goes on where it stopped.
# Exit status: 0 drained, 1 not within the time (900 s unless told), 2 the replica reports nothing.
set -euo pipefail
prometheus=$1 replica=$2 limit=${3:-900}

# value EXPRESSION: the number, or nothing where there is no series.
value() {
  curl --silent --show-error --fail --get --data-urlencode "query=$1" "$prometheus/api/v1/query" |
    sed -n 's/.*"value":\[[^,]*,"\([^"]*\)"\].*/\1/p'
}

# What is in the journal, waits for a judge, or has not got out; each once, whichever collector it came through.
of() { printf 'max by (instance) (%s{instance="%s"})' "$1" "$replica"; }
backlog=$(of otel_eval_backlog_evaluations)
# The journal's size is told from the first telemetry on: a replica that has had none since it started has nothing there.
left="($(of otel_eval_journal_bytes) or 0 * $backlog) + $backlog + $(of otel_eval_outbox_evaluations)"
left="max_over_time(($left)[1m:5s])"

for ((waited = 0; ; waited += 5)); do
  found=$(value "$left")
  if [ -z "$found" ]; then
    echo "$replica: reports nothing to $prometheus"
    exit 2
  fi
  if [ "$found" = 0 ]; then
    echo "$replica: journal, backlog and outbox have been empty for a minute"
    exit 0
  fi
  if [ "$waited" -ge "$limit" ]; then
    echo "$replica: not drained within $limit s"
    exit 1
  fi
  sleep 5
done
