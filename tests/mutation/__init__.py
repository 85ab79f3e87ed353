"""What the suite catches: a fixed sample of small mutants, each run against its module's tests.

    python -m tests.mutation draw            of sample.json what is gone, anew from the source
    python -m tests.mutation run OUT.json    some hours on one core; an interrupt loses nothing

A mutant is named by its file, its function and the code that it changes, so that it survives a
change elsewhere in the file; one whose code is gone is told as gone and counts neither way. The
checkout is never touched: a copy is.
"""
