"""The study behind the verdicts, beside the course: whoever maintains the course need not read it.

It is frozen, its code as its rows in notebooks/results: it changes when a number is wrong, and at a
release. The one way to it from the course is `checkout.study`, for `calibkit reproduce` and
`arbiter`, and photographs at the scales gpu and paper. `make test-study` tests it; this reruns it:

    cd notebooks/evidence && python -m study

trains what the register asks for and notebooks/results/factorial lacks (whoever wants a table anew
deletes it first), judges every comparison, and writes the pages of claims.
"""
