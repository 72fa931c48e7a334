"""Lessons: how a model computes its attention for one pair, with all numbers. Each YAML file in this folder is a
lesson, and the sources in each module named ``on_…`` register themselves."""

import importlib
import pkgutil

from core.lessons.formula import mathml
from core.lessons.lesson import Lesson, LessonError, LessonStep, at, lessons
from core.lessons.sources import Evaluated, evaluate

__path__: list[str]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    if _module.name.rpartition(".")[2].startswith("on_"):
        importlib.import_module(_module.name)

__all__ = ["Evaluated", "Lesson", "LessonError", "LessonStep", "at", "evaluate", "lessons", "mathml"]
