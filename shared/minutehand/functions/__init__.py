"""The four Lambda functions: dispatcher, worker, api and migrate. Each `app.py` in a stack imports its handler here."""
