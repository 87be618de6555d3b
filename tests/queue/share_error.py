"""How far the offers of tenants are from their shares."""

from collections import Counter
from collections.abc import Mapping


def share_error(offered: Counter[str], weights: Mapping[str, int]) -> float:
    """Return the largest error of a tenant's number of offers, as a part of the number that is its share."""
    assert set(offered) <= set(weights)
    total = sum(weights.values())
    shares = {tenant: offered.total() * weight / total for tenant, weight in weights.items()}
    return max(abs(offered[tenant] / share - 1) for tenant, share in shares.items())
