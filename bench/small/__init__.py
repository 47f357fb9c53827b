"""The programs of bench/small_programs.py, a file for each family."""
