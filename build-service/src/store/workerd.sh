#!/bin/sh
# Starts workerd so that it never outlives the process that asked for it, however that one ends.
# AGENT_ENV_WORKERD names the program. Ctrl-C reaches every process of a terminal: this one goes on until the other, which
# still has to write down what it takes down, ends it.
trap '' INT
parent=$PPID
( while kill -0 "$parent" && kill -0 $$; do sleep 1; done; kill -9 $$ ) >/dev/null 2>&1 3>&- &
exec "$AGENT_ENV_WORKERD" "$@"
