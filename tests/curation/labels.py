"""Labels that the tests of curation draw from."""

import torch


def balanced(each=100, classes=10):
    return torch.arange(classes).repeat(each)


def ragged(n=997, classes=5, seed=0):
    g = torch.Generator().manual_seed(seed)
    weight = torch.arange(1, classes + 1).double()
    return torch.multinomial(weight, n, replacement=True, generator=g)


def strictly_ascending(indices):
    return bool((indices[1:] > indices[:-1]).all())
