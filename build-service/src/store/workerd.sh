#!/bin/sh
# Starts workerd so that it never outlives the process that asked for it, however that one ends.
# AGENT_ENV_WORKERD names the program.
parent=$PPID
( while kill -0 "$parent" && kill -0 $$; do sleep 1; done; kill -9 $$ ) >/dev/null 2>&1 3>&- &
exec "$AGENT_ENV_WORKERD" "$@"
