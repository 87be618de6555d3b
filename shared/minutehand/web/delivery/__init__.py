"""Deliver jobs over HTTP: as JSON, signed, and only to public addresses unless others are allowed.

These environment variables hold for all deliveries:

    MINUTEHAND_HTTP_SECRETS     the signing secrets, comma-separated, each whsec_ followed by base64. List the new and
                                the old secret while you rotate them
    MINUTEHAND_HTTP_UNSIGNED    1: deliver unsigned if there is no secret. Otherwise such a job fails for good
    MINUTEHAND_HTTP_ALLOW       hosts (with or without a port), addresses and networks that may be reached although
                                they are not public, comma-separated: api.internal,localhost:8080,10.1.0.0/16
    MINUTEHAND_HTTP_REDIRECTS   1: follow up to three redirects. Otherwise a redirect is a failure
"""
