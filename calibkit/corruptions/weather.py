"""Weather: snow, frost, fog and brightness."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Generator, Tensor

from calibkit.corruptions.blur import streak, uniform_angles
from calibkit.corruptions.noise import uniform_like
from calibkit.corruptions.separable import separable, zoom_matrix

CIFAR = {
    # mean, spread, magnification and threshold of the flakes; radius, sigma of their fall;
    # weight that the picture keeps
    "snow": (
        (0.10, 0.2, 1.00, 0.60, 8, 3, 0.95),
        (0.10, 0.2, 1.00, 0.50, 10, 4, 0.90),
        (0.15, 0.3, 1.75, 0.55, 10, 4, 0.90),
        (0.25, 0.3, 2.25, 0.60, 12, 6, 0.85),
        (0.30, 0.3, 1.25, 0.65, 14, 12, 0.80),
    ),
    # weights of the picture and of the frost
    "frost": ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)),
    # thickness, decay of the clouds from coarse to fine
    "fog": ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)),
    "brightness": (0.05, 0.10, 0.15, 0.20, 0.30),  # added to the value of HSV
}
IMAGENET = {
    "snow": (
        (0.10, 0.3, 3.0, 0.50, 10, 4, 0.80),
        (0.20, 0.3, 2.0, 0.50, 12, 4, 0.70),
        (0.55, 0.3, 4.0, 0.90, 12, 8, 0.70),
        (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
        (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
    ),
    "frost": ((1, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)),
    "fog": ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)),
    "brightness": (0.1, 0.2, 0.3, 0.4, 0.5),
}

LUMA = (0.299, 0.587, 0.114)

# The frost pattern: its own fixed seed, and what the photographs of ice look like on the whole.
FROST_SEED = 20
FROST_SIDE = 256  # at least, and at least as large as the image
FROST_COLOUR = (0.57, 0.63, 0.68)
FROST_PATCHES, FROST_NEEDLES = 0.08, 0.09  # spread of large patches and of crystals
FROST_DIRECTIONS, FROST_WEDGE = 12, 0.3  # of the needles; half width of each in radians
FROST_FREQUENCY, FROST_SPREAD = 0.15, 0.9  # of the needles: cycles a pixel, spread of its log


def brightness(x: Tensor, amount: float, generator: Generator | None = None) -> Tensor:
    """Raise the value V = max(R, G, B) by `amount`, up to 1, at fixed hue and saturation."""
    value = x.amax(1, keepdim=True)
    shade = torch.where(value > 0, x / value, 1)  # black has no hue: it turns grey
    return shade * (value + amount).clamp_(max=1)


def snow(x: Tensor, constants: tuple, generator: Generator) -> Tensor:
    """Whiten the picture, then add falling flakes and the same flakes turned by 180 degrees."""
    mean, spread, factor, threshold, radius, sigma, keep = constants
    flakes = torch.empty_like(x[:, :1]).normal_(mean, spread, generator=generator)
    flakes = separable(flakes, *(zoom_matrix(size, factor) for size in x.shape[2:]))
    flakes = torch.where(flakes < threshold, 0, flakes).clamp_(0, 1)
    flakes = streak(flakes, uniform_angles(x, -135, -45, generator), radius, sigma)
    white = torch.maximum(x, 1.5 * grey(x) + 0.5)
    return keep * x + (1 - keep) * white + flakes + flakes.flip(2, 3)


def grey(x: Tensor) -> Tensor:
    """Luma (n, 1, H, W) of colour images; grey images as they are."""
    if x.shape[1] == 1:
        return x
    red, green, blue = (weight * x[:, c : c + 1] for c, weight in enumerate(LUMA))
    return red + green + blue


def fog(x: Tensor, constants: tuple[float, float], generator: Generator) -> Tensor:
    """(x + thickness · clouds) m / (m + thickness), m the image's largest value."""
    thickness, decay = constants
    height, width = x.shape[2:]
    clouds = plasma(x, 1 << (max(height, width) - 1).bit_length(), decay, generator)
    brightest = x.amax((1, 2, 3), keepdim=True)
    hazy = x + thickness * clouds[:, None, :height, :width]
    return hazy * (brightest / (brightest + thickness))


def plasma(x: Tensor, side: int, decay: float, generator: Generator) -> Tensor:
    """(n, side, side) clouds in [0, 1] by the diamond-square method on a torus, one an image.

    Level l halves the grid: the mean of four neighbours plus noise uniform in ± decay^(-2 l).
    """

    def midpoint(sum_of_four: Tensor, amplitude: float) -> Tensor:
        wobble = uniform_like(sum_of_four, generator, -amplitude, amplitude)
        return wobble.add_(sum_of_four, alpha=0.25)

    maps = x.new_zeros(len(x), side, side)
    step, amplitude = side, 1.0  # the result is rescaled, so only the decay counts
    while step > 1:
        half = step // 2
        corners = maps[:, ::step, ::step]
        above, beside = corners + corners.roll(-1, 1), corners + corners.roll(-1, 2)
        centres = midpoint(above + above.roll(-1, 2), amplitude)
        maps[:, half::step, half::step] = centres
        maps[:, ::step, half::step] = midpoint(centres + centres.roll(1, 1) + beside, amplitude)
        maps[:, half::step, ::step] = midpoint(centres + centres.roll(1, 2) + above, amplitude)
        step, amplitude = half, amplitude / decay**2
    low, high = maps.amin((1, 2), keepdim=True), maps.amax((1, 2), keepdim=True)
    return (maps - low) / (high - low)


def frost(x: Tensor, constants: tuple[float, float], generator: Generator) -> Tensor:
    """Blend each image with a random piece of an icy pattern.

    The published corruption blends in six photographs of frost. The pattern here is synthetic
    (`frost_pattern`), with about the mean colour and contrast of such photographs: severities are
    comparable, pictures are not the same.
    """
    keep, weight = constants
    side = max(FROST_SIDE, 1 << max(x.shape[2:]).bit_length())
    pattern = frost_pattern(side).to(x)[None]
    ice = random_pieces(grey(pattern) if x.shape[1] == 1 else pattern, x, generator)
    return torch.add(keep * x, ice, alpha=weight)


def random_pieces(pattern: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Pieces of a periodic (1, C, S, S) pattern at random places, one for each image of x."""
    height, width = x.shape[2:]
    side = pattern.shape[-1]
    corner = torch.empty(2, len(x), 1, dtype=torch.int64, device=x.device)
    top, left = corner.random_(0, side, generator=generator)
    rows = (top + torch.arange(height, device=x.device)) % side
    cols = (left + torch.arange(width, device=x.device)) % side
    pixels = rows[:, :, None] * side + cols[:, None, :]
    return pattern[0].flatten(1)[:, pixels].transpose(0, 1)


@lru_cache(maxsize=4)
def frost_pattern(side: int) -> Tensor:
    """(3, side, side) periodic picture of ice: the strongest of crossing needles, on patches.

    Every direction contributes noise filtered in the Fourier plane to a narrow wedge, which
    makes needles along it; the largest of them wins at each pixel. Coarse noise adds patches.
    """
    source = torch.Generator().manual_seed(FROST_SEED)
    frequency = torch.fft.fftfreq(side, 1 / side)
    fy, fx = frequency[:, None], frequency[None, :]
    distance = torch.hypot(fx, fy).clamp(min=1)
    heading = torch.atan2(fy, fx)
    band = torch.exp(-0.5 * ((distance / side / FROST_FREQUENCY).log() / FROST_SPREAD) ** 2)

    def filtered(spectrum: Tensor) -> Tensor:
        white = torch.randn(side, side, generator=source)
        return standardised(torch.fft.ifft2(torch.fft.fft2(white) * spectrum).real)

    angles = torch.arange(FROST_DIRECTIONS) * (torch.pi / FROST_DIRECTIONS)
    wedges = [band * torch.exp(-0.5 * (torch.sin(heading - a) / FROST_WEDGE) ** 2) for a in angles]
    needles = standardised(torch.stack([filtered(wedge) for wedge in wedges]).amax(0))
    patches = filtered(torch.exp(-distance / 8) * (distance > 1))
    luma = FROST_PATCHES * patches + FROST_NEEDLES * needles * (1 + 0.6 * patches).clamp(0.1)
    return (luma + torch.tensor(FROST_COLOUR)[:, None, None]).clamp(0, 1)


def standardised(field: Tensor) -> Tensor:
    """`field` with mean 0 and variance 1."""
    return (field - field.mean()) / field.std()
