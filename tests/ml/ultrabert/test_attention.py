from __future__ import annotations

import pytest
import torch

from t2v_spacy.ml.ultrabert.attention import attend, see_all, see_band
from t2v_spacy.ml.ultrabert.rotary import make_angles, rotate


def make_real(lengths: list[int], side: str) -> torch.Tensor:
    longest = max(lengths)
    place = torch.arange(longest)
    if side == "left":
        return torch.stack([place >= longest - length for length in lengths])
    return torch.stack([place < length for length in lengths])


def by_hand(queries, keys, values, real, window):
    """Row by row, each token the softmax over the tokens it sees."""
    found = torch.zeros_like(queries)
    for row, tokens in enumerate(real):
        (there,) = tokens.nonzero(as_tuple=True)
        for query in there:
            seen = there[(there - query).abs() <= window]
            scores = torch.einsum("hd,khd->hk", queries[row, query], keys[row, seen])
            shares = (scores / queries.shape[-1] ** 0.5).softmax(-1)
            found[row, query] = torch.einsum("hk,khd->hd", shares, values[row, seen])
    return found


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("lengths", "window", "block"),
    [
        ([5, 3], 8, 0),  # all see all
        ([20, 9, 1], 8, 0),  # under a mask
        ([25, 9, 1], 8, 16),  # in blocks
        ([70, 31, 64], 8, 16),
        ([100], 1, 16),
        ([130], 40, 20),
    ],
)
def test_the_band_is_what_it_is_by_hand(lengths, window, block, side):
    torch.manual_seed(0)
    real = make_real(lengths, side)
    inputs = [torch.randn(*real.shape, 2, 4) for _ in range(3)]
    sight = see_band(real, window)
    assert sight.block == block
    found = attend(*inputs, sight, 0.0)
    assert found.isfinite().all()
    expected = by_hand(*inputs, real, window)
    torch.testing.assert_close(found[real], expected[real])


def test_without_a_window_all_is_seen():
    torch.manual_seed(0)
    real = make_real([9, 4], "left")
    inputs = [torch.randn(*real.shape, 2, 4) for _ in range(3)]
    expected = by_hand(*inputs, real, 9)
    torch.testing.assert_close(
        attend(*inputs, see_all(real), 0.0)[real], expected[real]
    )
    assert see_all(real[:1]).mask is None


@pytest.mark.parametrize("length", [4, 20, 60])
def test_a_row_of_padding_is_finite(length):
    real = torch.zeros(2, length, dtype=torch.bool)
    real[0, 0] = True
    inputs = [torch.randn(2, length, 2, 4) for _ in range(3)]
    for sight in (see_all(real), see_band(real, 8)):
        assert attend(*inputs, sight, 0.0).isfinite().all()


def test_the_gradient_is_that_of_all_pairs():
    torch.manual_seed(0)
    real = make_real([40, 33], "right")
    inputs = [torch.randn(2, 40, 2, 4, requires_grad=True) for _ in range(3)]
    weights = torch.randn(2, 40, 2, 4) * real[:, :, None, None]
    grads = []
    for result in (attend(*inputs, see_band(real, 8), 0.0), by_hand(*inputs, real, 8)):
        grads.append(torch.autograd.grad((result * weights).sum(), inputs))
    for ours, expected in zip(*grads, strict=True):
        torch.testing.assert_close(ours, expected)


def test_the_band_never_holds_all_pairs():
    """Twice the length, twice the mask."""
    sizes = [see_band(make_real([n], "right"), 128).mask.numel() for n in (4096, 8192)]
    assert sizes == [4096 * 320, 8192 * 320]


def test_rotation_by_hand():
    """Head of 4, base 100: the pairs (0, 2) and (1, 3) turn by 1 and 1/10 a step."""
    x = torch.tensor([1.0, 1.0, 0.0, 0.0]).expand(1, 3, 1, 4)
    found = rotate(x, make_angles(3, 4, 100.0, x))[0, 2, 0]
    steps = torch.tensor([2.0, 0.2])
    torch.testing.assert_close(found, torch.cat((steps.cos(), steps.sin())))
