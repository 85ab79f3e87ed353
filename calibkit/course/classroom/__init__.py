"""What a class needs: notebooks for students, teachers and graders, a quiz, grades, handouts.

Everything is made from the committed notebooks and the checkers: there is no second text to keep.
"""
