"""calibkit: measure, break and repair the calibration of deep networks."""

__version__ = "0.1.0"
