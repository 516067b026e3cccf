"""RunService: what a run waits for."""

from stemma.conversation.v1 import run_service_pb2 as pb

from kernel.rpc.call import Call
from kernel.rpc.checks import uuid_field
from kernel.runs.start import Generation
from kernel.runs.submit import submit
from kernel.verbs.env import Env
from kernel.wire.frames import waiting_run_pb
from kernel.wire.requests import write_of
from kernel.wire.run_requests import answers_of


class ToolResults:
    _env: Env
    _generation: Generation

    async def submit_tool_results(
        self, request: pb.SubmitToolResultsRequest, call: Call
    ) -> pb.SubmitToolResultsResponse:
        write, run_id = write_of(request, call), uuid_field(request.run_id, "run_id")
        done = await submit(self._env, self._generation, write, run_id, *answers_of(request))
        return pb.SubmitToolResultsResponse(run=waiting_run_pb(done.run, done.waiting))
