"""States by flop: the names of all flops and those of some of them."""

import numpy as np

from allstreets.engines.subgames import SomeFlops, flop_key, flop_of, moved_key


def test_names_lead_to_flops_and_back() -> None:
    assert flop_of(flop_key(1754, "0.regrets.flop.0003.x")) == 1754
    assert flop_of("leaves.last") is None
    places = np.array([4, 9, 2])
    assert [moved_key(flop_key(own, "a"), places) for own in range(3)] == [
        flop_key(place, "a") for place in (4, 9, 2)
    ]


def test_some_flops_of_a_state() -> None:
    whole = {flop_key(flop, "a"): np.full(2, flop) for flop in range(5)} | {"ranges": np.ones(1)}
    some = SomeFlops(whole, np.array([3, 1]))
    assert dict(some.items()).keys() == {flop_key(0, "a"), flop_key(1, "a"), "ranges"}
    assert some[flop_key(0, "a")].tolist() == [3, 3]
    assert some[flop_key(1, "a")].tolist() == [1, 1]
    assert len(some) == 3
    assert flop_key(2, "a") not in list(some)
