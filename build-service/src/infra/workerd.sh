#!/bin/sh
# Starts workerd so that it never outlives the process that asked for it, however that one ends.
# AGENT_ENV_WORKERD names the program. Ctrl-C reaches every process of a terminal: this one goes on until the other, which
# still has to write down what it takes down, ends it.
# AGENT_ENV_CLOSED_SOCKET names a socket of workerd's that nobody is to reach: it becomes a file in a folder that is removed.
trap '' INT
parent=$PPID
closed=
if [ -n "$AGENT_ENV_CLOSED_SOCKET" ]; then
  # Not in TMPDIR: the path of a socket has at most some 100 bytes.
  closed=$(mktemp -d /tmp/agent-env-closed-XXXXXX) || exit 1
  for argument; do
    shift
    case $argument in "--socket-addr=$AGENT_ENV_CLOSED_SOCKET="*) argument="--socket-addr=$AGENT_ENV_CLOSED_SOCKET=unix:$closed/socket" ;; esac
    set -- "$@" "$argument"
  done
fi
(
  while kill -0 "$parent" && kill -0 $$; do
    [ -S "$closed/socket" ] && rm -r "$closed"
    sleep 1
  done
  kill -9 $$
  [ -d "$closed" ] && rm -r "$closed"
) >/dev/null 2>&1 3>&- &
exec "$AGENT_ENV_WORKERD" "$@"
