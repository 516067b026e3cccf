"""The ground that the other tests stand on: what they change is right before they change it."""

from stemma.kernel.v1 import floor_pb2

from tests.bad_inputs.world import RPCS, Places, a_world, fields_of, samples

# Right, and answered with how things stand by then.
STANDING = {
    "CancelRun": "FAILED_PRECONDITION",
    # The run has called nothing.
    "SubmitToolResults": "NOT_FOUND",
    "AbandonFloor": "FAILED_PRECONDITION",
    "WatchEvents": "OUT_OF_RANGE",
    # Accepted before.
    "RejectStagedWrite": "FAILED_PRECONDITION",
    "WithdrawStagedWrite": "FAILED_PRECONDITION",
}
# On the open floor, before an archived project ends it; and what takes away the ground of others.
FIRST = ("AddPage", "ActivatePage", "CommitFloor", "AbandonFloor")
LAST = ("DeleteBranch", "ArchiveSession", "RestoreSession", "DeleteSession")


def test_every_rpc_has_a_sample() -> None:
    places = Places(*(["0193a1b2-0000-7000-8000-000000000001"] * 14))
    assert set(samples(places)) == set(RPCS)


async def test_the_samples_are_accepted(migrated_url: str) -> None:
    async with a_world(migrated_url) as world:
        for name in [*FIRST, *(name for name in RPCS if name not in FIRST + LAST), *LAST]:
            changes = {"on_pending": floor_pb2.ON_PENDING_ABANDON} if "on_pending" in fields_of(name) else {}
            answer = await world.ask(name, world.sample(name, **changes))
            assert answer.code.name == STANDING.get(name, "OK"), (name, answer)
