"""Events: what happens to jobs, for hooks (functions in this process) and sinks (services that a setting names).

emit      build the event of each transition
publish   pass events to hooks, and after the commit to sinks
hooks     functions registered for events
sinks     deliver events to EventBridge, SNS, a webhook or the events table
webhooks  the webhook sink
"""
