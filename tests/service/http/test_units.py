"""Rewards in the units of the project, and names of its actions only, wherever a user looks."""

from __future__ import annotations

import json
import random
import re

from running import Running, write_project

LOW, HIGH = 500.0, 750.0


def test_every_reward_is_in_the_units_of_the_project(tmp_path):
    rng = random.Random(1)
    with Running(write_project(tmp_path, more=f"[reward]\nlow = {LOW}\nhigh = {HIGH}\n")) as service:
        for number in range(300):
            context = {"age": rng.choice([20, 40, 60]), "city": "Paris", "member": rng.random() < 0.5}
            decision = service.post("/v1/decide", {"context": context, "event_id": f"e{number}", "mean_rewards": True})
            reward = 740.0 if (decision["action"] == "plus") == context["member"] else 510.0
            service.post("/v1/reward", {"event_id": decision["event_id"], "reward": reward})
        explained = service.get("/v1/explain/e299")
        means = list(_means(explained)) + list(decision["mean_rewards"].values())
        assert len(means) > 5
        assert all(LOW <= mean <= HIGH for mean in means if mean is not None)
        drawn = re.sub(r"<style.*?</style>", "", service.http.get("/v1/tree/0.svg").text, flags=re.DOTALL)
        told = [float(number) for number in re.findall(r"(\d+\.\d+) · \d+ events", drawn)]
        assert told
        assert all(LOW <= mean <= HIGH for mean in told)
        status = service.get("/v1/status")
        assert LOW <= status["average_reward"] <= HIGH
        assert LOW <= status["uniform_value"] <= HIGH
        texts = [json.dumps(explained), drawn, json.dumps(status), service.http.get("/metrics").text]
        texts.append(service.http.get("/v1/importance").text)
        assert not any("free place" in text for text in texts)


def _means(document):
    """Return every mean reward that a document holds, however deep."""
    if isinstance(document, dict):
        for name, value in document.items():
            if name == "mean_rewards":
                yield from value.values()
            else:
                yield from _means(value)
    elif isinstance(document, list):
        for value in document:
            yield from _means(value)
