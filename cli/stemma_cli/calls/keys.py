"""AccessService: API keys."""

from typing import Any

import grpc
from stemma.conversation.v1 import access_service_pb2 as pb
from stemma.conversation.v1 import access_service_pb2_grpc

from stemma_cli.calls.base import Calls


class KeyCalls(Calls):
    """See `client`."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._keys: Any = access_service_pb2_grpc.AccessServiceStub(channel)  # type: ignore[no-untyped-call]

    def create_api_key(self, request: pb.CreateApiKeyRequest) -> pb.CreateApiKeyResponse:
        return self._call(self._keys.CreateApiKey, request, pb.CreateApiKeyResponse)

    def list_api_keys(self, request: pb.ListApiKeysRequest) -> pb.ListApiKeysResponse:
        return self._call(self._keys.ListApiKeys, request, pb.ListApiKeysResponse)

    def revoke_api_key(self, request: pb.RevokeApiKeyRequest) -> pb.RevokeApiKeyResponse:
        return self._call(self._keys.RevokeApiKey, request, pb.RevokeApiKeyResponse)
