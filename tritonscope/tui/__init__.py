"""The full-screen interface. It alone imports textual, and neither triton nor torch: those run in children."""
