"""The paper's tables and figures: frozen lists of what to run, rows of what came of it, and pictures of the rows.

* `spec`, `tables`: what is to be run, as data: cells times methods times seeds.
* `store`: the rows, in an SQLite file that several processes share and that a kill leaves whole.
* `runner`, `distributed`: run what is missing.
* `summary`, `render`, `figures`, `report`: tables, pictures and a page of what is there; they never run anything.
"""
