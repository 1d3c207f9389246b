"""The tables of the bake-off, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from contest.entrants import FOREST, VOWPAL_WABBIT, Entrant, choose_entrants, describe_key
from contest.game import WINDOWS
from contest.report.paired import Difference, paired_difference, standing
from contest.results import Results
from contest.rewards import MODES
from contest.split import SPLIT

__all__ = ["all_tables"]

RIVALS = ("vw5", "vw20", "lightgbm", "linucb", "neuralbandit")
SHOWN = (FOREST, VOWPAL_WABBIT, "Vowpal Wabbit, its best for each set", "LightGBM", "LinUCB", "NeuralBandit")
FAR_AHEAD = 0.03


def all_tables(results: Results) -> dict[str, str]:
    """Return every table by the name of its place in the page."""
    halves = {"reporting": SPLIT.reporting, "choosing": SPLIT.choosing}
    chosen = {mode: choose_entrants(results, mode=mode) for mode in MODES}
    tables = {
        f"{mode} {half}": _standings(results, mode, sets, chosen[mode])
        for mode in MODES
        for half, sets in halves.items()
    }
    tables |= {f"sets {half}": _by_set(results, sets, chosen[MODES[0]]) for half, sets in halves.items()}
    return tables | {
        "split": _table(["", "sets"], [[half, ", ".join(sets)] for half, sets in halves.items()]),
        "settings": _settings(chosen),
        "far ahead": _far_ahead(results, halves),
        "grid": _grid(results, halves),
    }


def _standings(results: Results, mode: str, sets: Sequence[str], entrants: Sequence[Entrant]) -> str:
    """Return the averages of all entrants over some sets, and how the forest stands against each."""
    header = ["% right actions", "all events", "first 1,000", "first 5,000", "last fifth", "µs per event"]
    header += ["the forest's lead", "ahead / level / behind", "by paired test"]
    forest = next((entrant for entrant in entrants if entrant.name == FOREST), None)
    lines = []
    for entrant in entrants:
        line = [entrant.name, *(f"{100 * _average(results, mode, sets, entrant, window):.1f}" for window in WINDOWS)]
        line += [f"{_average(results, mode, sets, entrant, 'microseconds'):.1f}"]
        if forest is not None and entrant is not forest:
            line += _against(results, mode, sets, forest, entrant)
        lines.append(line)
    return _table(header, lines)


def _average(results: Results, mode: str, sets: Iterable[str], entrant: Entrant, window: str) -> float:
    return float(np.mean([results.score(mode, name, entrant.keys[name], window) for name in sets]))


def _against(results: Results, mode: str, sets: Iterable[str], forest: Entrant, rival: Entrant) -> list[str]:
    differences = [_difference(results, mode, name, forest, rival) for name in sets]
    means = np.array([one.mean for one in differences])
    lead = f"{100 * means.mean():+.1f} ± {100 * means.std(ddof=1) / np.sqrt(means.size):.1f}"
    return [lead, str(standing(differences, by_test=False)), str(standing(differences, by_test=True))]


def _difference(results: Results, mode: str, name: str, forest: Entrant, rival: Entrant) -> Difference:
    ours, theirs = (results.blocks(mode, name, entrant.keys[name]) for entrant in (forest, rival))
    return paired_difference(ours, theirs)


def _by_set(results: Results, sets: Iterable[str], entrants: Sequence[Entrant]) -> str:
    """Return the averages on each set without noise, the best of them in bold."""
    mode = MODES[0]
    shown = [entrant for entrant in entrants if entrant.name in SHOWN]
    lines = []
    for name in sets:
        scores = [results.score(mode, name, entrant.keys[name]) for entrant in shown]
        texts = [f"**{100 * score:.1f}**" if score == max(scores) else f"{100 * score:.1f}" for score in scores]
        lines.append([name, *(f"{size:,}" for size in results.sizes[name]), *texts])
    return _table(["% right actions", "events", "actions", *(entrant.name for entrant in shown)], lines)


def _settings(chosen: dict[str, list[Entrant]]) -> str:
    """Return the setting of each entrant that has one, in each mode."""
    names = dict.fromkeys(entrant.name for entrants in chosen.values() for entrant in entrants if entrant.setting)
    settings = {(mode, one.name): one.setting for mode, entrants in chosen.items() for one in entrants}
    return _table(["", *chosen], [[name, *(settings.get((mode, name), "") for mode in chosen)] for name in names])


def _far_ahead(results: Results, halves: dict[str, tuple[str, ...]]) -> str:
    """Return the sets without noise where a single setting of a rival is more than three points ahead."""
    mode = MODES[0]
    forest, rivals = results.keys(mode, ["forest"]), results.keys(mode, RIVALS)
    lines = []
    for half, sets in halves.items():
        for name in sets if forest and rivals else ():
            ours = results.score(mode, name, forest[0])
            best = results.best(mode, [name], rivals)
            theirs = results.score(mode, name, best)
            if theirs - ours > FAR_AHEAD:
                lines.append([name, half, f"{100 * ours:.1f}", f"{100 * theirs:.1f}", describe_key(best)])
    return _table(["set", "half", "forest", "rival", "the rival"], lines)


def _grid(results: Results, halves: dict[str, tuple[str, ...]]) -> str:
    """Return the averages of all settings of Vowpal Wabbit without noise."""
    mode = MODES[0]
    keys = {policy: {key.setting: key for key in results.keys(mode, [policy])} for policy in ("vw5", "vw20")}
    header = ["setting", *(f"{bins} bins, {half}" for bins in ("five", "twenty") for half in halves)]
    lines = [
        [f"`{setting}`"]
        + [
            f"{100 * results.mean_score(mode, sets, of[setting]):.1f}"
            for of in keys.values()
            for sets in halves.values()
        ]
        for setting in keys["vw5"]
        if setting in keys["vw20"]
    ]
    return _table(header, lines)


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *([*line, *[""] * (len(header) - len(line))] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
