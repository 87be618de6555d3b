"""Costs: what a month of work cost on AWS, from the history of attempts and a dated table of prices.

`prices` reads the table. `queries.usage` sums the history. `report` computes the costs, here and elsewhere,
and `monthly_report` those of a month in a database.
"""
