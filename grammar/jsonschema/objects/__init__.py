"""Objects, member by member."""
