"""Causes: messages of errors, and how Python and SQL mask them alike."""

CAUSES = [
    ("the provider is down", "the provider is down"),
    ("no customer ada@shop.example", "no customer #"),
    ("mail to <ada@shop.example>, refused", "mail to # refused"),
    ("denied for user 'app'@'10.0.0.5' (using password: YES)", "denied for user # (using password: YES)"),
    ('no "ada@shop.example, Ada" here', "no # here"),
    ("customer 4711 owes 12.50", "customer # owes #"),
    ("at 12:30:15, after 12345678.5 s", "at #, after # s"),
    ("missing field 'iban' in \"order\"", "missing field # in #"),
    ("no order 0198a5b0-0000-7000-8000-000000000001", "no order #"),
    ("no commit 1f00ba47 in cafebabe", "no commit # in cafebabe"),
    ("first line\nsecond line", "first line"),
    ('no row "Ada\nLovelace"', "no row #"),
    ('no row "Ada' + " Lovelace" * 50 + '" here', "no row #"),
    ("it's not {'name': 'Ada", "it's not {#: #"),
    ('no "Ada \\"the Countess\\" Lovelace" here', "no # here"),
    ('no "Ada \\', "no #"),
    ("no 'Ada O'Brien' here", "no # here"),
    (
        "no \u201cAda\u201d, \u201eAda\u201c, \u2018Ada\u2019, \u00abAda\u00bb or `Ada`",
        "no #, #, #, # or #",
    ),
    ("no \u2018Ada O\u2019Brien\u2019, no \u00abAda", "no #, no #"),
]
