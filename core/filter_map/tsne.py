"""t-SNE by openTSNE (Poličar, Stražar & Zupan 2024) for points with known distances, and its quality.

openTSNE is imported lazily: it takes a second, and most pages do not need it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from scipy.spatial.distance import cdist  # type: ignore[import-untyped]

from core.lazy import import_alone


def lay_out(
    points: np.ndarray,
    distances: np.ndarray,
    perplexity: float,
    seed: int,
    iterations: tuple[int, int],
    count: Callable[[int], None],
) -> np.ndarray:
    """t-SNE of points ``[N, D]`` with ``distances [N, N]``, initialised with the first two principal components: ``[N,
    2]``.

    ``iterations``: with early exaggeration and after it; ``count`` is called with the number of iterations done.
    """
    import_alone("openTSNE")
    from openTSNE import TSNE  # type: ignore[import-untyped]
    from openTSNE.affinity import PerplexityBasedNN  # type: ignore[import-untyped]
    from openTSNE.initialization import pca  # type: ignore[import-untyped]

    every = 25
    affinities = PerplexityBasedNN(distances, perplexity=perplexity, metric="precomputed", n_jobs=1)
    tsne = TSNE(
        early_exaggeration_iter=iterations[0],
        n_iter=iterations[1],
        negative_gradient_method="bh",
        n_jobs=1,
        random_state=seed,
        callbacks=lambda *_: count(every),
        callbacks_every_iters=every,
    )
    start = pca(points, svd_solver="full", random_state=seed)
    return np.asarray(tsne.fit(affinities=affinities, initialization=start))


def reference(coordinates: np.ndarray) -> Any:
    """Fixed points ``[N, 2]`` as openTSNE's TSNEEmbedding, ready to place new points."""
    import_alone("openTSNE")
    from openTSNE import TSNEEmbedding

    return TSNEEmbedding(coordinates, _NewAffinities(len(coordinates)), negative_gradient_method=_one_point)


class _NewAffinities:
    """Affinities of a new point to N fixed ones: the part of ``PerplexityBasedNN`` used for placing. The original also
    computes affinities among the fixed points: half a second and N² distances that are not needed here."""

    def __init__(self, count: int) -> None:
        self.P = csr_matrix((count, count))  # Only its size is used.

    def to_new(
        self, distances: np.ndarray, perplexity: float, return_distances: bool
    ) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
        """Affinities ``[1, N]`` for the new point's ``distances [1, N]``; then the nearest points and their
        distances."""
        import_alone("openTSNE")
        from openTSNE.affinity import joint_probabilities_nn

        nearest = np.argsort(distances, axis=1, kind="stable")[:, : int(3 * perplexity)]
        near = np.take_along_axis(distances, nearest, axis=1)
        affinities = joint_probabilities_nn(
            nearest,
            near,
            [perplexity],
            symmetrize=False,
            normalization="point-wise",
            n_reference_samples=self.P.shape[0],
        )
        return affinities, nearest, near


def _one_point(embedding: np.ndarray, P: Any, *, reference_embedding: np.ndarray, **_: Any) -> tuple[float, np.ndarray]:
    r"""The gradient of t-SNE's objective for one new point with all others fixed: ``[1, 2]``.

    Σ_j (p_j - w_j / Σw) w_j (x - x_j), w_j = 1 / (1 + ‖x - x_j‖²): the same as openTSNE with theta 0, but without its
    quadtree, which is rebuilt in every iteration: five times as fast for 3,000 points. The divergence itself is not
    computed.
    """
    apart = np.asarray(embedding) - np.asarray(reference_embedding)
    near = 1 / (1 + (apart**2).sum(axis=1))
    weights = -(near**2) / near.sum()
    weights[P.indices] += P.data * near[P.indices]
    return float("nan"), (weights[:, None] * apart).sum(axis=0, keepdims=True)


def quality(distances: np.ndarray, coordinates: np.ndarray, labels: Sequence[str], k: int) -> dict[str, float]:
    """How well the plane ``[N, 2]`` preserves ``distances [N, N]`` and the classes: leave-one-out k-NN accuracy,
    the largest class's share for comparison, and trustworthiness."""
    import_alone("sklearn.manifold")
    from sklearn.manifold import trustworthiness

    scores = {
        "knn_filters": _knn_accuracy(distances, labels, k),
        "knn_plane": _knn_accuracy(np.asarray(cdist(coordinates, coordinates)), labels, k),
        "majority": max(Counter(labels).values()) / len(labels),
        "trustworthiness": trustworthiness(distances, coordinates, n_neighbors=k, metric="precomputed"),
    }
    return {name: float(value) for name, value in scores.items()}


def _knn_accuracy(distances: np.ndarray, labels: Sequence[str], k: int) -> float:
    """Leave-one-out k-NN accuracy: the share of texts whose class is the majority among their k nearest neighbours."""
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    return knn_accuracy(others, labels, labels, k)


def knn_accuracy(distances: np.ndarray, labels: Sequence[str], known: Sequence[str], k: int) -> float:
    """The k-NN accuracy of M texts with classes ``labels``, whose neighbours are among N known texts: ``distances [M,
    N]``."""
    names, classes = np.unique(np.array(known), return_inverse=True)
    nearest = classes[np.argsort(distances, axis=1, kind="stable")[:, :k]]
    # Ties between classes are decided by the nearest texts.
    votes = np.zeros((len(distances), len(names)))
    for rank in range(nearest.shape[1]):
        votes[np.arange(len(distances)), nearest[:, rank]] += 1 - rank / 1000
    return float((names[votes.argmax(axis=1)] == np.array(labels)).mean())
