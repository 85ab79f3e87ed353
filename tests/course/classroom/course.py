"""The committed lessons and their exercises, read once for the tests of all forms of the course."""

from calibkit.course import checkout
from calibkit.course.classroom import contents

LESSONS = {lesson.name: lesson for lesson in checkout.lessons()}
COMMITTED = {name: contents.committed(lesson) for name, lesson in LESSONS.items()}
PROSE = {name: contents.prose(notebook) for name, notebook in COMMITTED.items()}
EXERCISES = {name: contents.exercises(name, notebook) for name, notebook in COMMITTED.items()}
EVERY = [task for tasks in EXERCISES.values() for task in tasks]
CHECKED = {task.checker: task for task in EVERY if task.checker}
QUESTIONS = {name: contents.questions(name, notebook) for name, notebook in COMMITTED.items()}
