"""Writes windows.json, the reference values of FitWindows.

Made with Python 3.11, NumPy 2.4, SciPy 1.17:
    pip install numpy scipy && python3 windows.py > windows.json
The formulas are those that the comments of huber.go, effects.go, launch.go,
mixture.go and simultaneous.go cite. They are done here with dense design matrices, SciPy's
distributions and its root finders and quadrature; nothing is shared with the Go code.
"""
import json

import numpy as np
from scipy import integrate, optimize, stats

K, RIDGE, ASSUMED, LEAST, ALIKE = 1.345, 0.01, 0.005, 0.1, 1.65
FLAT, LIKELY, ASSUMED_MOST = 0.0023, 0.03, 0.06
GRID = np.concatenate([[0], 0.0005 * 1.28 ** np.arange(32)])
EDGES = np.concatenate([[0], (GRID[1:] + GRID[:-1]) / 2, [GRID[-1] * 1.13]])


def pinv(m):
    return np.linalg.pinv(m, rcond=1e-9, hermitian=True)


def information(arm, block, w, y, arms):
    """Of the arms, with the blocks projected out of dense dummies."""
    X = np.eye(arms)[arm]
    B = (block[:, None] == np.unique(block)).astype(float)
    P = np.diag(w) - (w[:, None] * B) @ np.linalg.inv(B.T @ (w[:, None] * B)) @ (w[:, None] * B).T
    return X.T @ P @ X, X.T @ P @ y


def residuals(arm, block, w, y, effect):
    r = y - effect[arm]
    for b in np.unique(block):
        r[block == b] -= np.average(r[block == b], weights=w[block == b])
    return r


def pseudo(arm, block, launch, y, arms):
    n, nb, G = len(y), len(np.unique(block)), launch.max() + 1
    u, spent, h, s = np.zeros((G, arms)), 0.0, np.ones(n), None
    assert n - nb - (arms - 1) >= 0.4 * n and n >= 4 * arms  # else nothing is clipped
    for step in range(12):
        w = h if s is None else h / s[arm] ** 2
        t = y - u[launch, arm]
        N, rhs = information(arm, block, w, t, arms)
        r = residuals(arm, block, w, t, pinv(N) @ rhs)
        if step < 9:
            share = np.sqrt(max((n - nb - (arms - 1) - spent) / n, 0.2))
            common = np.median(abs(r))
            ratio = np.maximum(np.array([np.median(abs(r[arm == a])) for a in range(arms)]) / common, 0.3)
            ratio = np.where(ratio > ALIKE, ratio / ALIKE, np.where(ratio < 1 / ALIKE, ratio * ALIKE, 1))
            s = common * ratio / stats.norm.ppf(0.75) / share
        h = np.minimum(1, K * s[arm] / abs(r))
        if step < 11:
            new, spent = np.zeros((G, arms)), 0.0
            for g in range(G):
                for a in range(arms):
                    m = (launch == g) & (arm == a)
                    d = h[m].sum() + (s[a] / RIDGE) ** 2
                    new[g, a] = (h[m] * (r[m] + u[g, a])).sum() / d
                    spent += h[m].sum() / d
            u, spent = new, spent * (1 - 1 / arms) * (1 - 1 / G)
    inside = abs(r) <= K * s[arm]
    kappa = np.array([max(inside[arm == a].mean(), 0.4) for a in range(arms)])
    z = y - r + np.clip(r, -K * s[arm], K * s[arm]) / kappa[arm]
    return z, (1 + min((nb + arms - 1 + spent) / n, 0.6) * (1 - kappa) / kappa) ** 2


def loglik(sd, effect, count, v):
    """Restricted likelihood with dense design and the launches' and arms' dummies."""
    at = [(g, a) for g in range(len(effect)) for a in range(len(v)) if count[g, a] > 0]
    y = np.array([effect[x] for x in at])
    s2 = np.array([sd ** 2 + v[a] / count[g, a] for g, a in at])
    X = np.array([[float(g == i) for i in range(len(effect))] + [float(a == j) for j in range(1, len(v))] for g, a in at])
    A = X.T @ (X / s2[:, None])
    r = y - X @ np.linalg.solve(A, X.T @ (y / s2))
    return -0.5 * (np.log(s2).sum() + np.linalg.slogdet(A)[1] + (r * r / s2).sum())


class Fit:
    def __init__(self, Y, launch, robust):
        Y, launch = np.array(Y, float), np.unique(launch, return_inverse=True)[1]
        arms, G = Y.shape[1], launch.max() + 1
        b, a = np.nonzero(np.isfinite(Y))
        y, g = Y[b, a], launch[b]
        z, inflate = pseudo(a, b, g, y, arms) if robust else (y, np.ones(arms))
        n, nb = len(y), len(np.unique(b))
        N, E, r = [], [], np.zeros(n)
        for i in range(G):
            m = g == i
            info, rhs = information(a[m], b[m], np.ones(m.sum()), z[m], arms)
            N.append(info)
            E.append(pinv(info) @ rhs)
            r[m] = residuals(a[m], b[m], np.ones(m.sum()), z[m], E[-1])
        rank = sum(np.linalg.matrix_rank(x, tol=1e-9) for x in N)
        free = (n - nb - rank) / (n - nb)
        M, ss = np.zeros((arms, arms)), np.bincount(a, r * r, arms) * inflate / free
        for blk in np.unique(b):
            inb = a[b == blk]
            k = len(inb)
            M[inb, inb] += 1 - 2 / k
            M[np.ix_(inb, inb)] += 1 / k ** 2
        mean = ss.sum() / (n - nb)
        M2 = M + 1e-6 * (n - nb) / arms * np.eye(arms)
        self.v = np.maximum(mean + np.linalg.solve(M2, ss - M.sum(1) * mean), LEAST * mean)
        count = np.array([[((g == i) & (a == j)).sum() for j in range(arms)] for i in range(G)])
        per = count.sum(1) / (count > 0).sum(1)
        om = 1 / (ASSUMED ** 2 * per + mean) if robust else np.ones(G)
        om = om / om.mean()
        inv = pinv(sum(o * x for o, x in zip(om, N)))
        H = [o * inv @ x for o, x in zip(om, N)]
        self.alpha = sum(h @ e for h, e in zip(H, E))
        scores = []
        for blk in np.unique(b):
            m = b == blk
            x = np.zeros(arms)
            x[a[m]] = r[m] * np.sqrt(inflate[a[m]] / free)
            scores.append(om[g[m][0]] * inv @ x)
        self.S = sum(np.outer(x, x) for x in scores)
        self.Gain = sum(h @ h.T for h in H)
        self.share = []
        for blk in np.unique(b):
            m = b == blk
            L = np.zeros((arms, arms))
            L[a[m], a[m]] = 1
            L -= np.outer(np.diag(L), np.diag(L)) / m.sum()
            self.share.append(om[g[m][0]] ** 2 * inv @ L @ inv)
        self.free = free
        lp = np.array([loglik(x, np.array(E), count, self.v) for x in GRID])
        tail = -np.log(np.maximum(1, GRID / LIKELY)) - (1e300 if G < 2 else 0) * (GRID > ASSUMED_MOST)
        lp += tail - np.log(GRID + FLAT) + np.log(np.diff(EDGES))
        self.p = np.exp(lp - lp.max())
        self.p /= self.p.sum()
        self.l2 = (self.p * GRID ** 2).sum()
        self.median = np.interp(0.5, np.concatenate([[0], self.p.cumsum()]), EDGES)

    def parts(self, c):
        h = np.array([c @ x @ c for x in self.share])
        W, g = c @ self.S @ c, c @ self.Gain @ c
        d = max(self.free * h.sum() ** 2 / (h ** 2).sum(), 1)
        V = W + g * GRID ** 2
        return W, g, d, V, V ** 2 * d / W ** 2

    def pvalue(self, c, x):
        W, g, d, V, df = self.parts(c)
        return (self.p * 2 * stats.t.sf(abs(x) / np.sqrt(V), df)).sum()

    def half(self, c, alpha):
        top = np.sqrt(self.parts(c)[3].max())
        return optimize.brentq(lambda x: self.pvalue(c, x) - alpha, 1e-9, 60 * top, xtol=1e-15, rtol=1e-12)

    def each(self, cs, alpha):
        cov = lambda c, d: c @ (self.S + self.l2 * self.Gain) @ d
        common = np.mean([cov(cs[i], cs[j]) for i in range(len(cs)) for j in range(i)])
        b = np.sqrt(np.clip([common / cov(c, c) for c in cs], 0, 0.9))
        s = np.sqrt(1 - b * b)

        def any_(p):
            z = stats.norm.isf(p / 2)
            f = lambda x: stats.norm.pdf(x) * np.prod(stats.norm.cdf((z - b * x) / s) - stats.norm.cdf((-z - b * x) / s))
            return 1 - integrate.quad(f, -9, 9, epsabs=1e-13, limit=400)[0]
        return optimize.brentq(lambda p: any_(p) - alpha, alpha / len(cs) / 2, alpha, xtol=1e-14)


def case(rng, blocks, arms, sd, noise, missing, robust, control):
    Y, launch = [], []
    for g, m in enumerate(blocks):
        u = sd * rng.standard_normal(arms)
        for _ in range(m):
            e = rng.standard_t(4, arms) * noise * np.where(np.arange(arms) == arms - 1, 2, 1)
            row = 0.2 * rng.standard_normal() + u + e
            row[rng.random(arms) < missing] = np.nan
            Y.append([None if np.isnan(x) else round(float(x), 9) for x in row])
            launch.append(7 * g + 3)
    f = Fit(Y, launch, robust)
    cs = []
    for k in range(arms):
        if k not in control:
            c = np.zeros(arms)
            c[k], c[control] = 1, -1 / len(control)
            cs.append(c)
    out = {"y": Y, "launch": launch, "control": control, "robust": robust, "window_sd": np.sqrt(f.v), "launch_sd": f.median, "contrasts": []}
    each = f.each(cs, 0.05) if len(cs) > 1 else 0.05
    for c in cs:
        W, g, d, _, _ = f.parts(c)
        se, half, df = np.sqrt(W + g * f.l2), f.half(c, 0.05), -1.0  # -1 is +Inf
        if half <= stats.norm.isf(0.025) * se:
            se = half / stats.norm.isf(0.025)
        else:
            df = np.exp(optimize.brentq(lambda x: stats.t.sf(half / se, np.exp(x)) - 0.025, -3, 16, xtol=1e-14))
        out["contrasts"].append({
            "c": c, "mean": c @ f.alpha, "se": se, "df": float(df),
            "p": f.pvalue(c, c @ f.alpha), "half": half, "family": f.half(c, each)})
    return out


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, np.ndarray)):
        return [plain(v) for v in x]
    return float("%.12g" % x) if isinstance(x, float) else x


rng = np.random.default_rng(20261122)
cases = [
    case(rng, [6, 6, 6], 3, 0.01, 0.02, 0, True, [0, 1]),
    case(rng, [9, 4, 7, 2], 4, 0.004, 0.05, 0.1, True, [0, 1]),
    case(rng, [5, 5], 3, 0.03, 0.01, 0, False, [0, 1]),
    case(rng, [12], 3, 0.0, 0.03, 0.05, True, [0, 1]),
    case(rng, [4, 5, 4, 6, 4], 2, 0.006, 0.02, 0, True, [0]),
    case(rng, [8, 3, 8], 7, 0.02, 0.04, 0.15, True, [0, 1]),
    case(rng, [3, 2, 4, 3], 5, 0.15, 0.02, 0.05, False, [0, 1]),
]
print(json.dumps(plain(cases)))
