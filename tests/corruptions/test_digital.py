from io import BytesIO

import cv2
import numpy as np
import pytest
import torch
from PIL import Image
from scipy import ndimage

from calibkit.corruptions import TABLES, corrupt, digital
from tests.corruptions.peer import peer, pictures


@pytest.mark.parametrize("severity", range(1, 6))
@pytest.mark.parametrize("table", TABLES)
def test_jpeg_agrees_with_the_codec(photos, table, severity):
    theirs = peer(photos, "jpeg_compression", severity, table)
    error = (corrupt(photos, "jpeg_compression", severity, table=table) - theirs).abs()
    damage = (photos - theirs).abs()
    assert error.mean() < 0.5 / 255
    assert error.mean() < damage.mean() / 8
    assert error.max() < 20 / 255  # where a coefficient on the edge was rounded the other way


@pytest.mark.parametrize(("height", "width"), [(33, 47), (9, 100)])
@pytest.mark.parametrize("channels", [1, 3])
def test_jpeg_of_any_size_agrees_with_the_codec(channels, height, width):
    ramp = torch.linspace(0, 1, height)[:, None] * torch.linspace(0.2, 1, width)
    waves = 0.5 + 0.5 * torch.sin(torch.arange(width) / 2.5).expand(height, width)
    x = torch.stack([ramp, waves, ramp.flip(1)])[None, :channels]
    for quality in (90, 50, 20):
        file = BytesIO()
        pictures(x)[0].save(file, "JPEG", quality=quality)
        decoded = torch.from_numpy(np.array(Image.open(file)) / 255.0)
        expected = decoded[None] if channels == 1 else decoded.permute(2, 0, 1)
        error = (digital.jpeg_compression(x, quality)[0].clamp(0, 1) - expected).abs()
        assert error.mean() < (0.3 if channels == 1 else 0.8) / 255


@pytest.mark.parametrize("quality", [7, 25, 40, 50, 80, 100])
def test_step_tables_are_those_of_the_encoder(quality):
    file = BytesIO()
    Image.new("RGB", (16, 16)).save(file, "JPEG", quality=quality)
    written = Image.open(file).quantization
    for index, base in enumerate((digital.LUMA_STEPS, digital.CHROMA_STEPS)):
        assert digital.step_table(quality, base).flatten().tolist() == list(written[index])


def test_chroma_is_halved_and_doubled_by_hand():
    line = torch.tensor([0.0, 4, 8, 8, 20], dtype=torch.float64)
    means = digital.halving_matrix(5, 8) @ line
    assert means.tolist() == [2, 8, 20, 20]
    # 3/4 of the nearer, 1/4 of the farther, and the border repeated
    assert (digital.doubling_matrix(5, 4) @ means).tolist() == [2, 3.5, 6.5, 11, 17]
    assert digital.doubling_matrix(4, 4)[3].tolist() == [0, 1, 0, 0]  # what pads is no neighbour


@pytest.mark.parametrize(("edge", "mode"), [(0.0, "mirror"), (0.5, "reflect")])
def test_sample_is_scipy_interpolation(photos, edge, mode, generator):
    shape = (len(photos), 32, 32)
    rows, cols = 72 * torch.rand(2, *shape, generator=generator, dtype=torch.float64) - 20
    ours = digital.sample(photos, rows, cols, edge)
    for i in range(len(photos)):
        expected = ndimage.map_coordinates(photos[i, 1], [rows[i], cols[i]], order=1, mode=mode)
        np.testing.assert_allclose(ours[i, 1], expected, atol=1e-6)


@pytest.mark.parametrize(("height", "width"), [(32, 32), (24, 40)])
def test_affine_part_agrees_with_opencv(height, width):
    n, shift = 5, 2.5
    x = torch.rand(n, 3, height, width, dtype=torch.float64)
    rows, cols = digital.affine_places(x, shift, torch.Generator().manual_seed(3))
    drawn = torch.empty(n, 3, 2, dtype=torch.float64)
    drawn.uniform_(-shift, shift, generator=torch.Generator().manual_seed(3))
    arm, centre = min(height, width) // 3, np.array([width // 2, height // 2])
    before = centre + np.array([[arm, arm], [arm, -arm], [-arm, -arm]])
    for i in range(n):
        matrix = cv2.getAffineTransform(
            before.astype(np.float32), (before + drawn[i].numpy()).astype(np.float32)
        )
        back = cv2.invertAffineTransform(matrix)
        down, across = np.mgrid[:height, :width]
        expected = back @ np.stack([across, down, np.ones_like(down)]).reshape(3, -1)
        np.testing.assert_allclose(cols[i].flatten(), expected[0], atol=1e-4)
        np.testing.assert_allclose(rows[i].flatten(), expected[1], atol=1e-4)


def test_elastic_shear_is_scipy_interpolation(photos):
    out = digital.elastic_transform(photos, (0, 0, 0.05), torch.Generator().manual_seed(1))
    places = digital.affine_places(photos, 0.05 * 32, torch.Generator().manual_seed(1))
    for image, sheared, rows, cols in zip(photos, out, *places, strict=True):
        expected = ndimage.map_coordinates(image[0], [rows, cols], order=1, mode="mirror")
        np.testing.assert_allclose(sheared[0], expected, atol=1e-6)
