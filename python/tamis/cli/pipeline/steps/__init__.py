"""The steps of ``tamis spark``, one module per step."""
