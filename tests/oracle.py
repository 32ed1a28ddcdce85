"""Algorithm 1 of the paper and its variants, line by line, in plain Python.

Written from the paper and independent of real_plugin: no numpy, exact fractions, loops.
It takes the clusters as given. Random draws follow the smallest keys of SplitMix64, which
is written out here once more.
"""

from fractions import Fraction
from math import floor, log

MASK = 2**64 - 1


def splitmix64(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def key(seed, i):
    golden = 0x9E3779B97F4A7C15
    return splitmix64(((i + 1) * golden + splitmix64((seed + golden) & MASK)) & MASK)


def algorithm_1(P, assignment, K, b, variant, residual, shortfall, seed):
    n, Y = len(P), len(P[0])
    P = [[Fraction(float(p)) for p in row] for row in P]
    C = [[i for i in range(n) if assignment[i] == k] for k in range(K)]

    # Eq. 2: the instance-level pseudo label; ties go to the lowest class.
    pred = [max(range(Y), key=lambda j: (P[i][j], -j)) for i in range(n)]

    # Eq. 3: the cluster-level pseudo label.
    maj = []
    for k in range(K):
        votes = [sum(1 for i in C[k] if pred[i] == j) for j in range(Y)]
        maj.append(max(range(Y), key=lambda j: (votes[j], -j)))

    # Eq. 5 for every instance, the pseudo errors, and Eq. 4.
    eps = [1 - P[i][maj[assignment[i]]] for i in range(n)]
    E = [[i for i in C[k] if pred[i] != maj[k]] for k in range(K)]
    eps_k = [sum((eps[i] for i in E[k]), Fraction(0)) for k in range(K)]

    def by_eps(rows):
        return sorted(rows, key=lambda i: (-eps[i], i))

    def entropy(i):
        return -sum(float(p) * log(p) for p in P[i] if p > 0)

    # Eq. 6 and the residual.
    if variant == "pool":
        b_k = [0] * K
    elif variant == "uniform":
        b_k = [b // K] * K
        for k in sorted(range(K), key=lambda k: (-len(E[k]), k))[: b - sum(b_k)]:
            b_k[k] += 1
    else:
        total = sum(eps_k)
        b_k = [floor(b * e / total) if total else 0 for e in eps_k]
        delta = b - sum(b_k)
        if residual == "paper":
            order = [k for k in range(K) if b_k[k] > 0]
            order.sort(key=lambda k: (-b_k[k], -eps_k[k], k))
        else:
            order = [k for k in range(K) if eps_k[k] > 0]
            order.sort(key=lambda k: (-eps_k[k], k))
        for k in order[:delta]:
            b_k[k] += 1

    # The draw.
    Q = by_eps(range(n))[:b] if variant == "pool" else []
    for k in range(K):
        if variant == "cluster":
            Q += by_eps(C[k])[: b_k[k]]
        elif variant == "entropy":
            Q += sorted(E[k], key=lambda i: (-round(entropy(i), 9), i))[: b_k[k]]
        elif variant in ("real", "uniform"):
            Q += sorted(E[k], key=lambda i: key(seed, i))[: b_k[k]]
    source = ["pseudo-error" if pred[i] != maj[assignment[i]] else "complement" for i in Q]

    # The complement: in the cluster first if asked to, then from the whole pool.
    if shortfall == "cluster":
        for k in range(K):
            short = b_k[k] - sum(1 for i in Q if assignment[i] == k)
            if variant != "pool" and short > 0:
                Q += by_eps(i for i in C[k] if i not in Q)[:short]
    Q += by_eps(i for i in range(n) if i not in Q)[: b - len(Q)]
    source += ["complement"] * (len(Q) - len(source))
    return Q, source, b_k, eps_k
