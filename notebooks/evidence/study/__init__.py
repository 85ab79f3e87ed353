"""What the evidence trains and judges by the register, beside the course: see `factorial`."""
