"""Rooms for a class: the phones' page, and the parts of the lecturer's."""
