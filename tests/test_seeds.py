"""Random numbers of tests that set no seed."""

import random

import numpy as np
import pytest
import torch


@pytest.mark.parametrize("time", ["first", "second"])
def test_what_is_drawn_without_a_seed_is_the_same_in_every_test(time):
    assert random.random() == random.Random(0).random()
    assert np.random.rand() == np.random.RandomState(0).rand()
    assert torch.rand(1).equal(torch.rand(1, generator=torch.Generator().manual_seed(0)))
