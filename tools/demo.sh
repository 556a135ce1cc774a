#!/bin/sh
# The main job, end to end: demo.sh COMMAND TRACE REQUIRED EXPECTED_EXIT
#
# `precedes` answers with its exit code: 0 holds, 1 violated, 2 could not run, 3 undecided. Here the one that has to come
# is known, and any other fails the demo.
set -u

precedes=$1 trace=$2 required=$3 code=$4

expect() {
    wanted=$1
    shift
    printf '\n$ precedes %s\n' "$*"
    "$precedes" "$@"
    got=$?
    [ "$got" -eq "$wanted" ] && return
    printf '\ndemo: exit code %s where %s was to come\n' "$got" "$wanted" >&2
    exit 1
}

printf 'The figures of the papers, each with the verdict that its paper states.\n'
expect 0 check specs/papers

printf '\nA recorded trace, in this process.\n'
expect "$code" verify "$trace" --require "$required" --engine local

printf '\nThe same trace on Spark, with the same answer.\n'
expect "$code" verify "$trace" --require "$required" --engine spark

if [ "$code" -eq 1 ]; then
    printf '\nExit code 1, as it has to be: the system that was recorded does not keep %s.\n' "$required"
fi
