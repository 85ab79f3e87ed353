"""What can go wrong, in words for the person at the keyboard."""


class FetchError(RuntimeError):
    """A file that could not be had, or is not the one that was published."""


class ArchiveError(RuntimeError):
    """An archive that is damaged, unsafe, or not laid out as its dataset is."""


class FullError(RuntimeError):
    """A disk without room, which no fresh copy of an archive would mend."""
