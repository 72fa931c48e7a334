"""Gives tags and labels from 8 threads to the database that PAIRLENS_DB names, until it is killed; prints each row
whose tag and label are saved."""

import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.labelling import Labelling

FILE, THREADS = "f" * 64, 8
CLASSES = ["even", "odd"]


def main():
    annotations, labelling = Annotations(open_database()), Labelling(open_database())
    labelling.add_classes("annotator 0", FILE, CLASSES)

    def write(thread):
        for number in itertools.count(thread, THREADS):
            annotations.give(f"annotator {thread}", FILE, f"row {number}", "other")
            labelling.label(f"annotator {thread}", FILE, f"row {number}", 1 + number % 2)
            sys.stdout.write(f"row {number}\n")
            sys.stdout.flush()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(THREADS)))


if __name__ == "__main__":
    main()
