"""`stemma doctor`."""

import asyncio

import typer

from stemma_cli.options import Json, wants_json

_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "bold red")}


def doctor(context: typer.Context, json: Json = False) -> None:
    """Look at all that Stemma needs, and say what is wrong.

    And what to do about it. Goes by the same settings as the services: run it where they run. Settings, both
    databases and how durable they are, the services, the gateway, the model, disk and clocks. Exits with 1
    when something fails.
    """
    from rich.text import Text

    from stemma_cli.doctoring import examined
    from stemma_cli.output import Output

    output = Output(as_json=wants_json(context, json))
    findings = asyncio.run(examined())
    for finding in findings:
        mark, style = _MARKS[finding.state]
        output.say(Text.assemble((mark, style), f" {finding.what}: {finding.said}"))
        if finding.advice:
            output.say(Text(f"    {finding.advice}", "dim"))
    output.answer_dict({"findings": [finding.as_dict() for finding in findings]})
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(1)
