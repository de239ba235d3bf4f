"""When training stops to teach anything but the rows themselves."""

from sdv_tabdiff.diffusion.transfer import AGREEING_CHECKS, Check, Transfer


def run(held_out, trained=lambda step: 2.0 / step**0.5, steps=range(10, 500, 10)):
    """The step at which a run with these losses is exhausted; None if it never is."""
    transfer = Transfer(minimum=0.5)
    for step in steps:
        transfer.record(Check(step, trained(step), held_out(step)))
        if transfer.is_exhausted:
            return step

    return None


class TestExhaustion:
    def test_losses_that_fall_together_go_on(self):
        assert run(lambda step: 2.0 / step**0.5 + 0.3) is None

    def test_two_thirds_are_enough(self):
        assert run(lambda step: 1.0 + 2 / 3 * 2.0 / step**0.5) is None

    def test_a_third_is_not(self):
        # From the first check that has another one far enough behind it.
        assert run(lambda step: 1.0 + 1 / 3 * 2.0 / step**0.5) <= 10 * (2 + AGREEING_CHECKS)

    def test_the_turn_of_the_held_out_loss_is_noticed_at_once(self):
        def held_out(step):
            return 2.0 / step**0.5 + (step / 400) ** 2

        lowest = min(range(10, 500, 10), key=held_out)
        assert 50 < run(held_out) <= lowest + 10 * (AGREEING_CHECKS - 1)

    def test_a_single_odd_check_does_not_count(self):
        def held_out(step):
            return 2.0 / step**0.5 + (1.0 if step == 200 else 0.0)

        assert run(held_out, steps=range(10, 260, 10)) is None

    def test_nothing_left_to_learn(self):
        assert run(lambda step: 1.0 + 1e-6 * step, trained=lambda step: 1.0) is not None
