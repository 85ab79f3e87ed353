"""`python -m study`: what is missing is trained, everything judged, the pages of claims written."""

import torch

from study import factorial, judged, page

if __name__ == "__main__":
    torch.set_num_threads(1)
    factorial.main(["digits", "text", "parts"])
    judged.main()
    page.write()
