"""Trainers: read a data set, train a model, evaluate it. Import direction: trainers → core."""
