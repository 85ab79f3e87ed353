"""What the evidence trains and judges, beside the course. It is frozen, with its stored rows.

Nothing in the daily work on lessons and package needs it, and `make test` runs without it. It
changes when a number is wrong, and at a release. One command reruns it:

    cd notebooks/evidence && python -m study

trains what the register asks for and notebooks/results/factorial lacks (whoever wants a table anew
deletes it first), judges every comparison, and writes the pages of claims. The stored runs on
photographs are made by `calibkit reproduce`.
"""
