"""What trains: data with known truth, networks, one training, a grid of trainings on disk.

Its parts are loaded when they are asked for: `from calibkit.lab import data, models, training`.
"""
