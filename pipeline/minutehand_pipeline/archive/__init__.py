"""Archive finished days: read a closed day on one snapshot, write, verify, commit and record it, then drop it.

    close → read → write → verify → commit → record → drop

State is in two places. The lake's table stores the number of its last batch in the commit that added the batch. The
database has a ledger of batches, which is at most one row behind, after a run that was killed between the two steps.
"""
