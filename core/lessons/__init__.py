"""Lessons: a pair's attention number by number, step by step. A YAML file of this folder is a lesson."""

from core.lessons import on_attention, on_checkpoints, on_effects, two_dimensions  # noqa: F401 (their sources register themselves)
from core.lessons.formula import mathml
from core.lessons.lesson import Lesson, LessonError, LessonStep, at, lessons
from core.lessons.sources import Evaluated, evaluate

__all__ = ["Evaluated", "Lesson", "LessonError", "LessonStep", "at", "evaluate", "lessons", "mathml"]
