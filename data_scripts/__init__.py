"""Fetch, verify and prepare the real datasets: `python -m data_scripts NAME`."""
