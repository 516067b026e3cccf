"""Where a service is called: one address, or several."""

import pytest

from kernel.rpc.dial import target


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("127.0.0.1:50051", "127.0.0.1:50051"),
        ("conversation:50051", "conversation:50051"),
        ("10.0.0.1:1,10.0.0.2:2", "ipv4:10.0.0.1:1,10.0.0.2:2"),
        ("[::1]:1,[fd00::2]:2", "ipv6:[::1]:1,[fd00::2]:2"),
    ],
)
def test_what_a_channel_is_given(given: str, wanted: str) -> None:
    assert target(given) == wanted


@pytest.mark.parametrize(
    "given", ["one:1,two:2", "10.0.0.1:1,[::1]:2", "10.0.0.1:1,", "10.0.0.1:1, 10.0.0.2:2x,y"]
)
def test_several_that_cannot_be_dialled_together(given: str) -> None:
    with pytest.raises(ValueError, match="several addresses"):
        target(given)
