"""Machine code that reads JSON Lines and CSV in one pass over their bytes.

It takes rows as programs write them. A slice with anything else in it is left to the readers beside this folder, which
decide what it means or what is wrong with it: nothing here ever refuses a row.
"""
