"""Trainers: read a data set, train a model, score it. Imports run one way: trainers → core."""
