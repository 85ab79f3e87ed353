import numpy as np
import pytest
import torch
from sklearn.datasets import load_sample_images


@pytest.fixture(scope="session")
def photos() -> torch.Tensor:
    """(24, 3, 32, 32) float64 crops of two photographs, in steps of 1/255."""
    crops = [
        photo[t : t + 32, v : v + 32]
        for photo in load_sample_images().images
        for t in (20, 180, 300)
        for v in (10, 200, 333, 560)
    ]
    return torch.from_numpy(np.stack(crops)).permute(0, 3, 1, 2).double() / 255


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)
