import sys

from calibkit.course import checkout

sys.path.insert(0, str(checkout.root() / "notebooks" / "evidence"))
