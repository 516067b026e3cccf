"""What an MCP server is to a run: tools that are listed and called. Knows no protocol."""

from dataclasses import dataclass


class McpUnavailable(Exception):
    """The server could not be asked, or did not answer.

    Attributes:
        message: For people and models: says what to do, and quotes neither the server nor an address.
        sent: The call may have reached the server, and so may have acted. False: it surely did not.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.sent = sent


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as its server lists it. Everything in it is the server's word.

    Attributes:
        name: 1 to 128 characters.
        description: At most 8,192 characters; longer ones are cut.
        parameters_json: A JSON Schema of its arguments: a JSON object, at most 64 KiB and 32 levels.
    """

    name: str
    description: str
    parameters_json: str


@dataclass(frozen=True, slots=True)
class McpResult:
    """What a call came to.

    Attributes:
        content: At most 1 MiB in UTF-8, without NUL. Texts as they are; of anything else, a line of JSON that
            describes it. When `is_error` is set by us and not by the server, a sentence.
        is_error: The tool, the server or we say that it failed.
    """

    content: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class McpLimits:
    """Seconds, bytes and counts.

    Attributes:
        connect: That starting, greeting and listing the tools of a server may take together.
        listing: That listing its tools anew may take.
        fresh: That a list of tools is taken as current; a server that says it changed is asked at once.
        again: That a server which could not be connected is not asked again.
        close: That a server has to go, before it is killed.
        message_bytes: Of one message of a server. What is longer is passed over, and its call fails.
        content_bytes: Of the content of one result.
        urls: Servers named by URL that are connected at once; beyond, the one idle for longest goes.
    """

    connect: float = 20.0
    listing: float = 20.0
    fresh: float = 60.0
    again: float = 2.0
    close: float = 1.5
    message_bytes: int = 8 * 1024 * 1024
    content_bytes: int = 1024 * 1024
    urls: int = 64


LIMITS = McpLimits()
MAX_TOOLS = 1_000
MAX_NAME, MAX_DESCRIPTION, MAX_PARAMETERS = 128, 8_192, 64 * 1024
