#!/bin/bash
# Makes the database on the first start, then runs the server as the user postgres.
set -euo pipefail

if [ "${1:-}" = postgres ] && [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown postgres:postgres "$PGDATA"
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi

if [ "${1:-}" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -z "${POSTGRES_PASSWORD:-}" ]; then
    echo "postgres: no database yet, and POSTGRES_PASSWORD is not set: set it to the password of the first user" >&2
    exit 1
  fi
  user="${POSTGRES_USER:-postgres}"
  database="${POSTGRES_DB:-$user}"
  initdb --username="$user" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") --auth-host=scram-sha-256 --auth-local=trust -D "$PGDATA" > /dev/null
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  if [ "$database" != postgres ]; then
    printf 'CREATE DATABASE "%s"\n' "${database//\"/\"\"}" | postgres --single -D "$PGDATA" postgres > /dev/null
  fi
  sed -i "s/^#listen_addresses = .*/listen_addresses = '*'/" "$PGDATA/postgresql.conf"
fi

exec "$@"
