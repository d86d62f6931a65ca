"""Writes vectors.json, the reference values of package stat.

Made with Python 3.11, NumPy 2.4, SciPy 1.17, statsmodels 0.14:
    pip install numpy scipy statsmodels && python3 vectors.py > vectors.json
Nothing here is shared with the Go code: SciPy's functions where they exist, plain
quadrature and dense linear algebra where not.
"""
import json
import warnings

import numpy as np
from scipy import stats
from statsmodels.sandbox.stats.runs import runstest_1samp

rng = np.random.default_rng(20240611)
out = {}

out["student"] = [
    {"p": p, "df": df, "t": stats.t.ppf(p, df)}
    for df in (0.5, 1, 2, 3.7, 4, 9, 23, 120, 1e4, 1e6, 1e9)
    for p in (1e-6, 0.004, 0.02, 0.3, 0.9, 0.975, 0.99999)
]

out["trimmed"] = []
for n, frac in ((2, .1), (5, 0), (9, .1), (10, .1), (24, .1), (25, .2), (60, .1), (61, .25), (200, .1)):
    x = stats.t.rvs(3, size=n, random_state=rng) * 0.03 + 0.01
    h = n - 2 * int(frac * n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Against zeros, which have no variance, Yuen-Welch is the one-sample test.
        t = stats.ttest_ind(x, np.zeros(n), equal_var=False, trim=frac)
    mean = stats.trim_mean(x, frac)
    half = mean / t.statistic * stats.t.ppf(0.975, h - 1)
    out["trimmed"].append({"x": x.tolist(), "frac": frac, "mean": mean, "se": mean / t.statistic,
                           "df": h - 1, "p": t.pvalue, "lo": mean - abs(half), "hi": mean + abs(half)})

out["jackknife"] = []
for n in (2, 7, 40):
    a, b = rng.gamma(9, size=n), rng.gamma(11, size=n)
    theta = np.log(a.sum() / b.sum())
    left = np.array([np.log(np.delete(a, i).sum() / np.delete(b, i).sum()) for i in range(n)])
    out["jackknife"].append({"a": a.tolist(), "b": b.tolist(), "mean": theta, "df": n - 1,
                             "se": np.sqrt((n - 1) * left.var())})

out["bh"] = []
for m in (1, 2, 7, 30):
    p = rng.uniform(size=m) ** 2
    if m > 5:
        p[3] = p[1]
    out["bh"].append({"p": p.tolist(), "adjusted": stats.false_discovery_control(p).tolist()})

out["clopper_pearson"] = []
for hits, n, level in ((0, 20, .95), (3, 60, .95), (20, 400, .95), (60, 60, .99), (95, 2000, .9)):
    ci = stats.binomtest(hits, n).proportion_ci(level, "exact")
    out["clopper_pearson"].append({"hits": hits, "n": n, "level": level, "lo": ci.low, "hi": ci.high})

out["runs"], out["lag1"] = [], []
for n in (6, 20, 61, 200):
    x = np.convolve(rng.normal(size=n + 1), [1, 0.6], "valid")
    y = x[x != np.median(x)]
    z, p = runstest_1samp(y, cutoff=float(np.median(x)), correction=False)
    out["runs"].append({"x": x.tolist(), "z": z, "p": p})
    c = x - x.mean()
    out["lag1"].append({"x": x.tolist(), "r": float((c[1:] * c[:-1]).sum() / (c * c).sum())})

out["carry"] = []
for k, rows in ((2, 12), (4, 9)):
    cells, before = [], -1
    for r in range(rows):
        for c in rng.permutation(k):
            y = 0.1 * c + (0.03 * before if before > 0 else 0) + rng.normal() * 0.02
            cells.append({"row": r, "column": int(c), "before": before, "y": float(y)})
            before = int(c)
    used = [c for c in cells if c["before"] >= 0]
    X = np.array([[c["row"] == r for r in range(rows)]
                  + [c["column"] == j for j in range(1, k)]
                  + [c["before"] == j for j in range(1, k)] for c in used], float)
    y = np.array([c["y"] for c in used])
    beta, _, rank, _ = np.linalg.lstsq(X, y, rcond=None)
    assert rank == X.shape[1]
    df = len(y) - rank
    s2 = ((y - X @ beta) ** 2).sum() / df
    se = np.sqrt(s2 * np.diag(np.linalg.inv(X.T @ X)))
    out["carry"].append({"columns": k, "cells": cells, "df": df,
                         "mean": [0] + beta[-(k - 1):].tolist(), "se": [0] + se[-(k - 1):].tolist()})

# Added later, with a generator of their own: what is above stays as it is.
later = np.random.default_rng(20261121)
out["grubbs"] = []
for n, shift in ((4, 0), (5, 4), (8, -6), (12, 3), (30, 0)):
    x = later.normal(size=n)
    x[n // 2] += shift
    z = np.abs(x - x.mean())
    g = z.max() / x.std(ddof=1)
    t = np.sqrt(n * (n - 2) * g**2 / ((n - 1)**2 - n * g**2))
    out["grubbs"].append({"x": x.tolist(), "index": int(z.argmax()), "p": min(1, 2 * n * stats.t.sf(t, n - 2))})
out["welch"] = []
for n, m in ((2, 2), (3, 5), (9, 4)):
    a, b = later.normal(0.3, 2, n), later.normal(size=m)
    r = stats.ttest_ind(a, b, equal_var=False)
    ci = r.confidence_interval()
    out["welch"].append({"a": a.tolist(), "b": b.tolist(), "mean": a.mean() - b.mean(), "df": r.df,
                         "p": r.pvalue, "lo": ci.low, "hi": ci.high})
out["trend"] = []
for n in (20, 21, 39):
    x = np.arange(n) * 0.1 + np.where(np.arange(n) % 2 == 0, 1, -1) + later.normal(0, 0.3, n)
    r = stats.linregress(np.arange(n), x)  # alternating: no allowance for correlation
    out["trend"].append({"x": x.tolist(), "change": r.slope * n, "se": r.stderr * n})

# Special functions: near both ends, and with parameters as large as tare has them.
out["beta_inc"] = [
    {"a": a, "b": b, "x": x, "value": special.betainc(a, b, x)}
    for a in (0.1, 0.5, 1, 2.5, 30, 400, 5e4) for b in (0.2, 0.5, 3, 70, 9e3)
    for x in (1e-6, 0.01, 0.3, 0.5, 0.9, 0.999)
]
out["student_shape"] = [
    {"t": t, "df": df, "cdf": stats.t.cdf(t, df), "pdf": stats.t.pdf(t, df)}
    for df in (0.7, 1, 2, 3.5, 4, 11, 60, 1e3, 1e5) for t in (-40, -3, -1, -0.1, 0, 0.01, 0.7, 2, 5, 30)
]
out["fisher"] = [
    {"f": f, "df1": df1, "df2": df2, "tail": stats.f.sf(f, df1, df2)}
    for df1 in (1, 2, 7) for df2 in (1, 6.144578304171205, 40, 1e5) for f in (0.01, 1, 5.5296431218711835, 80)
]
out["normal"] = [{"z": z, "cdf": stats.norm.cdf(z)} for z in (-8, -1.5, 0, 0.3, 4)]


def rounded(v):
    """12 significant digits are more than any test asks for."""
    if isinstance(v, dict):
        return {a: rounded(b) for a, b in v.items()}
    if isinstance(v, list):
        return [rounded(b) for b in v]
    return float(f"{v:.12g}") if isinstance(v, (float, np.floating)) else v


lines = [f'"{name}": [\n' + ",\n".join(json.dumps(rounded(c), allow_nan=False, default=int) for c in cases) + "\n]"
         for name, cases in out.items()]
print("{\n" + ",\n".join(lines) + "\n}")
