"""What runs in a traced program: the standard library, triton, and torch where the program has it."""
