"""Archive: a closed day is read on one snapshot, written, compared, committed, noted, and only then may be dropped.

    close → read → write → verify → commit → note → drop

Truth is in two places: the lake's table has the number of its last batch, in the commit that brought the batch's files;
Postgres has a ledger of batches, one row behind at most, after a run that was killed between the two.
"""
