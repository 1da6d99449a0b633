"""`clawbench models`: what models.yaml holds, and whether each model answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from clawbench.cli.choices import MODELS_HELP, models_file
from clawbench.cli.console import out, print_json
from clawbench.gateway import find_price, probe_model
from clawbench.models import Model, load_model, load_models

app = typer.Typer(no_args_is_help=True, help="List the models of models.yaml and check that they answer.")

ModelsFile = Annotated[Path | None, typer.Option("--models", help=MODELS_HELP)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command("list")
def list_models(models: ModelsFile = None, as_json: Json = False) -> None:
    """List the models, without their keys."""
    entries = [_row(model) for model in load_models(models_file(models), with_keys=False).values()]
    if as_json:
        print_json(entries)
        return
    table = Table("model", "api_type", "base_url", "keys", "price per million (in/out)")
    for row in entries:
        price = row["price"]
        cost = f"{price['input']:g} / {price['output']:g} USD" if price else "unknown"
        cells = (row["name"], row["api_type"], row["base_url"], str(row["keys"]), cost)
        table.add_row(*map(Text, cells))
    out.print(table)


def _row(model: Model) -> dict[str, Any]:
    prices = find_price(model)
    return {
        **model.settings(),
        "keys": len(model.api_keys),
        "price": prices.base.model_dump() if prices else None,
        "scripted": model.scripted,
    }


@app.command()
def check(
    names: Annotated[list[str] | None, typer.Argument(help="Models to check; all by default.")] = None,
    models: ModelsFile = None,
    as_json: Json = False,
) -> None:
    """Send each model one tiny request through the gateway; exit code 1 if one does not answer."""
    file = models_file(models)
    chosen = [load_model(file, name) for name in names] if names else list(load_models(file).values())
    results = [{"name": m.name, "problem": asyncio.run(probe_model(m))} for m in chosen]
    if as_json:
        print_json(results)
    else:
        for result in results:
            state = "[green]answers[/]" if result["problem"] is None else "[red]fails[/]"
            name, problem = escape(str(result["name"])), escape(result["problem"] or "")
            out.print(f"{name}: {state} {problem}", highlight=False)
    if any(result["problem"] is not None for result in results):
        raise typer.Exit(1)
