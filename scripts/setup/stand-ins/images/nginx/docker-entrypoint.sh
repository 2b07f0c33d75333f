#!/bin/sh
# Fills the environment's variables into /etc/nginx/templates/*.template, as the official image's does, then runs the server.
set -eu

variables=$(awk 'BEGIN { for (name in ENVIRON) printf "${%s} ", name }')
for template in /etc/nginx/templates/*.template; do
  [ -f "$template" ] || continue
  name=${template##*/}
  envsubst "$variables" < "$template" > "/etc/nginx/conf.d/${name%.template}"
done

exec "$@"
