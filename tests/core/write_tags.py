"""Gives 200 tags from 8 threads to the database that PAIRLENS_DB names; prints each when it is acknowledged."""

import sys
from concurrent.futures import ThreadPoolExecutor

from core.desk.annotations import Annotations
from core.desk.database import open_database

FILE, WRITES, THREADS = "f" * 64, 200, 8


def main():
    annotations = Annotations(open_database())

    def write(number):
        annotations.give(f"annotator {number % THREADS}", FILE, f"row {number}", "other")
        sys.stdout.write(f"row {number}\n")
        sys.stdout.flush()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(WRITES)))


if __name__ == "__main__":
    main()
