"""Simulate ten million recorded attempts with another policy on two cores: duration and peak memory."""

from time import perf_counter, process_time

from bench.measure import Measured
from bench.memory import memory_lines, peak_memory

ATTEMPTS = 10_000_000
AIM = "reported"


def measure(attempts: int = ATTEMPTS, cores: int = 2) -> list[Measured]:
    """Simulate a month in which one attempt in ten fails, with max_attempts 3, and one window in this process."""
    from minutehand_pipeline.session import build_session
    from minutehand_pipeline.simulate.policy import Policy
    from minutehand_pipeline.simulate.simulate import SimulationConfig, simulate
    from minutehand_pipeline.simulate.synthetic import Synthetic

    spark = build_session("bench simulate", cores=cores, settings={"spark.driver.memory": "3g"})
    days, fails = 30, 0.1
    rate = attempts * (1 - fails) / days / 24 / 60
    month = Synthetic(rate=(rate,), days=days, run=1.0, fails=fails)
    policy = Policy(name="max_attempts 3", capacity=10_000, chunk=10, max_attempts=3)
    with peak_memory() as peaks:
        began = perf_counter()
        (result,) = simulate(spark, SimulationConfig(synthetic=month, policies=(policy,))).simulated
        took = perf_counter() - began
    return [
        Measured(
            f"simulate {result.attempts:,} attempts on {cores} cores, {days} windows",
            f"{took:,.0f} s",
            "",
            f"{result.attempts / took:,.0f}/s",
            AIM,
        ),
        *memory_lines(peaks, aim="independent of the number of windows"),
        _engine(attempts // 100),
    ]


def _engine(attempts: int) -> Measured:
    """Measure the engine in this process, without Spark."""
    import pyarrow as pa

    from minutehand_pipeline.simulate.arrivals import read_arrivals
    from minutehand_pipeline.simulate.engine import Simulation
    from minutehand_pipeline.simulate.policy import Policy
    from minutehand_pipeline.simulate.synthetic import Synthetic, generate_hour

    day = Synthetic(rate=(attempts / 24 / 60,), run=1.0)
    table = pa.Table.from_batches(batch for hour in range(24) for batch in generate_hour(day, 0, hour))
    jobs = read_arrivals(table, 0.0, 1e12, with_names=False)
    began = process_time()
    Simulation(Policy(capacity=10_000, chunk=10), jobs).run()
    took = process_time() - began
    return Measured(
        f"  only the engine, with {len(jobs):,} jobs",
        f"{took * 1e6 / len(jobs):,.1f} µs",
        "",
        f"{len(jobs) / took:,.0f}/s",
    )
