"""What happens to claimed jobs before they are finished, as rules of a state machine."""

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from machine_operations import latest, seconds
from model import Model

from minutehand import Cancel, Job, LostError


class ClaimRules(RuleBasedStateMachine):
    """Workers crash, extend their leases and check their claims."""

    model: Model
    claimed: list[Job]

    @rule(place=latest)
    def crashes(self, place: int) -> None:
        if self.claimed:
            self.claimed.pop(max(place, -len(self.claimed)))

    @rule(place=latest, by=st.sampled_from([60, 600]))
    def extends(self, place: int, by: int) -> None:
        if not self.claimed:
            return
        job = self.claimed[max(place, -len(self.claimed))]
        extended = self.model.extend(job.id, job.ack, by)
        try:
            job.extend(seconds(by))
        except LostError:
            assert not extended
        except Cancel:
            assert extended and self.model.jobs[job.id].cancelling
        else:
            assert extended and not self.model.jobs[job.id].cancelling

    @rule(place=latest)
    def checks(self, place: int) -> None:
        if not self.claimed:
            return
        job = self.claimed[max(place, -len(self.claimed))]
        job_model = self.model.jobs.get(job.id)
        holds = job_model is not None and job_model.ended is None and job_model.claim == job.ack
        holds = holds and job_model is not None and not self.model.void(job_model)
        try:
            job.check()
        except LostError:
            assert not holds
        except Cancel:
            assert holds and job_model is not None and job_model.cancelling
        else:
            assert holds and job_model is not None and not job_model.cancelling
