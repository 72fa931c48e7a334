#!/usr/bin/env bash
# Put a backup back, in place of what is there: stop the app servers first.
#   PAIRLENS_DB=postgresql+psycopg://USER:PASSWORD@HOST/NAME PAIRLENS_DESK=DESK deploy/restore.sh FOLDER/pairlens-DATE-TIME
set -euo pipefail

backup=${1:?give the path of a backup, without .dump}
gzip --test "$backup.tar.gz"
pg_restore --list "$backup.dump" >/dev/null

pg_restore --single-transaction --clean --if-exists --no-owner --dbname="${PAIRLENS_DB/+psycopg/}" "$backup.dump"
mkdir -p "$PAIRLENS_DESK"
tar --extract --gzip --file="$backup.tar.gz" --directory="$PAIRLENS_DESK"
