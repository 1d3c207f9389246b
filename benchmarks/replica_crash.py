"""Kill replicas and PostgreSQL under load, and compare everything afterwards."""

from __future__ import annotations

import argparse

from harness.replica_crash import crash_replicas


def main() -> None:
    """Run the test, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    outcome = crash_replicas(n_kills=arguments.kills, seed=arguments.seed)
    print(f"Killed: {outcome.n_kills}.")
    print(
        f"All {outcome.n_decisions:,} decisions and {outcome.n_rewards:,} rewards that were acknowledged are there "
        "once; "
        f"{outcome.n_repeated:,} repeated requests had the same answer."
    )
    print(outcome.verification)


if __name__ == "__main__":
    main()
