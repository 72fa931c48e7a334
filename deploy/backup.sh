#!/usr/bin/env bash
# Back up the database (pg_dump) and the desk's folder with the runs, as two files with the same name.
#   PAIRLENS_DB=postgresql+psycopg://USER:PASSWORD@HOST/NAME PAIRLENS_DESK=DESK deploy/backup.sh FOLDER
# Backups are atomic. Those older than KEEP_DAYS (30) are deleted.
set -euo pipefail

folder=${1:?give the folder of the backups}
name=pairlens-$(date -u +%Y%m%d-%H%M%S)
scratch=$(mktemp -d "$folder/.unfinished-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# Rooms are deleted after a day, so no backup keeps what a class wrote.
pg_dump --format=custom --no-owner --exclude-table-data='room*' --file="$scratch/$name.dump" "${PAIRLENS_DB/+psycopg/}"
# Jobs belong to the running servers; a run that is being written has a temporary name until it is complete.
tar --create --gzip --file="$scratch/$name.tar.gz" --directory="$PAIRLENS_DESK" --exclude='./jobs' \
    --exclude='.unfinished-*' --exclude='.writing.lock' .
sync "$scratch"/*
mv "$scratch/$name.tar.gz" "$folder/"
mv "$scratch/$name.dump" "$folder/"
find "$folder" -maxdepth 1 -name 'pairlens-*' -mtime "+${KEEP_DAYS:-30}" -delete
echo "$folder/$name"
