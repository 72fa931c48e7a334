"""Gives tags from 8 threads to the database that PAIRLENS_DB names, until it is killed; prints each that is saved."""

import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

from core.desk.annotations import Annotations
from core.desk.database import open_database

FILE, THREADS = "f" * 64, 8


def main():
    annotations = Annotations(open_database())

    def write(thread):
        for number in itertools.count(thread, THREADS):
            annotations.give(f"annotator {thread}", FILE, f"row {number}", "other")
            sys.stdout.write(f"row {number}\n")
            sys.stdout.flush()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(THREADS)))


if __name__ == "__main__":
    main()
