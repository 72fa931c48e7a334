#!/usr/bin/env bash
# Replace the database and the desk's folder by a backup. Stop the app servers first.
#   PAIRLENS_DB=postgresql+psycopg://USER:PASSWORD@HOST/NAME PAIRLENS_DESK=DESK deploy/restore.sh FOLDER/pairlens-DATE-TIME
set -euo pipefail

backup=${1:?give the path of a backup, without .dump}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gzip --test "$backup.tar.gz"

# Tables that a newer version added are not in the backup of an older one, so all tables are dropped.
cat >"$scratch/restore.sql" <<'SQL'
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('DROP TABLE public.%I CASCADE', name);
    END LOOP;
END $$;
SQL
pg_restore --no-owner --file=- "$backup.dump" >>"$scratch/restore.sql"
psql --quiet --no-psqlrc --single-transaction --set=ON_ERROR_STOP=1 --file="$scratch/restore.sql" "${PAIRLENS_DB/+psycopg/}"
mkdir -p "$PAIRLENS_DESK"
tar --extract --gzip --file="$backup.tar.gz" --directory="$PAIRLENS_DESK"
