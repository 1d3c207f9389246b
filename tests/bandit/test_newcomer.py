"""The script of docs/bandit.md, as a newcomer would run it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

DOCS = Path(__file__).parents[2] / "docs"


def visits(n_visits: int, seed: int) -> pd.DataFrame:
    """Return logged visits: members like offer a, others offer b, and three to eight of twelve are available."""
    rng = np.random.default_rng(seed)
    offers = [f"offer {letter}" for letter in "abcdefghijkl"]
    available = [sorted(rng.choice(offers, size, replace=False)) for size in rng.integers(3, 9, n_visits)]
    minutes = pd.to_timedelta(rng.integers(0, 60 * 24 * 90, n_visits), unit="min")
    frame = pd.DataFrame(
        {
            "time": pd.Timestamp("2024-03-01") + minutes,
            "age": np.where(rng.random(n_visits) < 0.1, np.nan, rng.integers(18, 90, n_visits)),
            "basket": rng.gamma(2.0, 20.0, n_visits).round(2),
            "country": rng.choice(["FR", "DE", "ES", None], n_visits),
            "member": rng.random(n_visits) < 0.5,
            "offer": [rng.choice(names) for names in available],
            "propensity": [1 / len(names) for names in available],
        }
    )
    is_liked = frame["offer"] == np.where(frame["member"], "offer a", "offer b")
    sold = is_liked & (rng.random(n_visits) < 0.7)
    frame["revenue"] = np.where(sold, rng.uniform(50, 250, n_visits), rng.uniform(0, 20, n_visits)).round(2)
    frame["available"] = ["|".join(names) for names in available]
    return frame


def test_the_script_of_the_docs_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = re.findall(r"```python\n(.*?)```", (DOCS / "bandit.md").read_text(), flags=re.DOTALL)[0]
    assert len(script.splitlines()) <= 25
    monkeypatch.chdir(tmp_path)
    visits(3000, 0).drop(columns="available").to_csv("visits.csv", index=False)
    unknown = visits(500, 1).assign(country="PT").drop(columns=["offer", "propensity", "revenue"])
    unknown.to_csv("today.csv", index=False)
    names: dict[str, object] = {}
    exec(compile(script, "bandit.md", "exec"), names)
    printed = capsys.readouterr().out
    assert re.search(r"^offer a is best: drawn with probability 0\.\d+\.$", printed, flags=re.MULTILINE)
    assert "{'member': 0.9" in printed
    chosen = pd.Series(names["decisions"].actions)  # type: ignore[attr-defined]
    listed = names["today"]["available"]  # type: ignore[index]
    assert all(action in offers for action, offers in zip(chosen, listed, strict=True))
    liked = [
        action == ("offer a" if member else "offer b") for action, member in zip(chosen, unknown["member"], strict=True)
    ]
    could = [("offer a" if m else "offer b") in offers for m, offers in zip(unknown["member"], listed, strict=True)]
    assert sum(liked) > 0.9 * sum(could)
