"""Lessons: how a model computes its attention for one pair, with all numbers. Each YAML file in this folder is a
lesson."""

from core.lessons import on_attention, on_checkpoints, on_effects, on_epochs, two_dimensions  # noqa: F401 (their sources register themselves)
from core.lessons.formula import mathml
from core.lessons.lesson import Lesson, LessonError, LessonStep, at, lessons
from core.lessons.sources import Evaluated, evaluate

__all__ = ["Evaluated", "Lesson", "LessonError", "LessonStep", "at", "evaluate", "lessons", "mathml"]
