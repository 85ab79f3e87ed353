"""What the evidence trains and judges, beside the course; by the register: see `factorial`."""
