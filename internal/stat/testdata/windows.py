"""Writes windows.json, the reference values of FitWindows.

Made with Python 3.11, NumPy 2.4, SciPy 1.17:
    pip install numpy scipy && python3 windows.py > windows.json
The formulas are those that the comments of huber.go, effects.go, launch.go,
contrast.go and simultaneous.go cite. They are done here with dense design matrices, SciPy's
distributions and its root finders and quadrature; nothing is shared with the Go code.
"""
import json

import numpy as np
from scipy import integrate, optimize, stats

K, ASSUMED, LEAST, ALIKE, OWN, APART, LEAST_RIDGE = 1.345, 0.005, 0.1, 1.65, 0.2, 0.05, 0.01


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
    if n - nb - (arms - 1) < 0.4 * n or n < 4 * arms:
        return y, np.ones(arms)  # nothing is clipped
    u, spent, h, s = np.zeros((G, arms)), 0.0, np.ones(n), None
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
            level = r + u[launch, arm]
            cells = [(g, a, (launch == g) & (arm == a)) for g in range(G) for a in range(arms)]
            cells = [c for c in cells if c[2].any()]
            sd = LEAST_RIDGE
            if G > 1:
                mid = np.median([abs(np.median(level[m])) for _, _, m in cells]) / stats.norm.ppf(0.75)
                noise = np.mean([np.pi / 2 * s[a] ** 2 / m.sum() for _, a, m in cells])
                sd = max(np.sqrt(max(mid ** 2 - noise, 0)), LEAST_RIDGE)
            u, spent = np.zeros((G, arms)), 0.0
            for g, a, m in cells:
                d = h[m].sum() + (s[a] / sd) ** 2
                u[g, a], part = (h[m] * level[m]).sum() / d, h[m].sum() / d
                if m.sum() >= 3 and abs(np.median(level[m]) - u[g, a]) > K * s[a]:
                    u[g, a], part = np.median(level[m]), 1
                spent += part
            spent *= (1 - 1 / arms) * (1 - 1 / G)
    inside = abs(r) <= K * s[arm]
    kappa = np.array([max(inside[arm == a].mean(), 0.4) for a in range(arms)])
    z = y - r + np.clip(r, -K * s[arm], K * s[arm]) / kappa[arm]
    return z, (1 + min((nb + arms - 1 + spent) / n, 0.6) * (1 - kappa) / kappa) ** 2


def table(E, d, keep):
    """Dense weighted fit of launch + arm to the table of some arms: effects, sum of squares, df."""
    at = [(g, a) for g in range(len(E)) for a in keep if np.isfinite(E[g, a]) and np.isfinite(E[g, keep]).sum() > 1]
    if not at:
        return {k: 0.0 for k in keep}, 0.0, 0
    gs = sorted({g for g, _ in at})
    y, w = np.array([E[x] for x in at]), np.array([1 / d[x] for x in at])
    X = np.array([[float(g == i) for i in gs] + [float(a == j) for j in keep] for g, a in at])
    b = np.linalg.lstsq(np.sqrt(w)[:, None] * X, np.sqrt(w) * y, rcond=None)[0]
    r = y - X @ b
    return dict(zip(keep, b[len(gs):])), (w * r * r).sum(), len(at) - len(gs) - (len({a for _, a in at}) - 1)


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
        self.share = []
        for blk in np.unique(b):
            m = b == blk
            L = np.zeros((arms, arms))
            L[a[m], a[m]] = 1
            L -= np.outer(np.diag(L), np.diag(L)) / m.sum()
            self.share.append(om[g[m][0]] ** 2 * inv @ L @ inv)
        self.free = free
        self.E = np.array(E)
        self.E[count == 0] = np.nan
        self.odd, apart, self.apart, self.df, self.l2 = set(), set(), set(), 0, 0.0
        if G < 2:
            return
        noise = self.v / np.maximum(count, 1e-300)
        kept = lambda: [k for k in range(arms) if k not in apart]

        def solve():
            _, q, df = table(self.E, noise, kept())
            if q <= df:
                return 0.0, q / df, df
            f = lambda x: table(self.E, np.exp(x) + noise, kept())[1] / df - 1
            return np.exp(optimize.brentq(f, -60, 10, xtol=1e-13)), 1.0, df

        def compare(k):
            keep = [j for j in kept() if j != k]
            d = self.l2 + noise
            effect, q, df = table(self.E, d, keep)
            x, w = [], []
            for g in range(G):
                here = [j for j in keep if np.isfinite(self.E[g, j])]
                if here and np.isfinite(self.E[g, k]):
                    p = 1 / d[g, here]
                    x.append(self.E[g, k] - np.average(self.E[g, here] - [effect[j] for j in here], weights=p))
                    w.append(1 / (d[g, k] + 1 / p.sum()))
            x, w = np.array(x), np.array(w)
            if len(x) < 2 or df < 1:
                return np.nan
            own = (w * (x - np.average(x, weights=w)) ** 2).sum() / (len(x) - 1)
            return stats.f.sf(own / (q / df), len(x) - 1, df)
        while 2 * (len(apart) + 1) < arms:
            self.l2 = solve()[0]
            ps = {k: compare(k) for k in kept()}
            k = min(ps, key=lambda i: ps[i] if np.isfinite(ps[i]) else np.inf)
            if not ps[k] * (arms - len(apart)) <= APART:
                break
            apart.add(k)
        self.l2, pooled, self.df = solve()
        self.odd, self.apart = {k for k in range(arms) if k in apart or compare(k) < OWN}, apart
        self.d = self.l2 + noise
        self.Gain = sum(h @ np.diag(np.where(count[g] > 0, pooled * self.d[g], 0)) @ h.T for g, h in enumerate(H))

    def errors(self, c):
        h = np.array([c @ x @ c for x in self.share])
        out = [(c @ self.S @ c, max(self.free * h.sum() ** 2 / (h ** 2).sum(), 1))]
        if self.df > 0:
            out.append((c @ self.Gain @ c, self.df))
        if any(abs(c[k]) > (0 if k in self.apart else 0.75) for k in self.odd):
            x, v = self.E[:, c != 0] @ c[c != 0], self.d[:, c != 0] @ c[c != 0] ** 2
            m = np.isfinite(x)
            x, w = x[m], 1 / v[m]
            out.append(((w * (x - np.average(x, weights=w)) ** 2).sum() / (len(x) - 1) / w.sum(), len(x) - 1))
        return out

    def pvalue(self, c, x):
        return max(2 * stats.t.sf(abs(x) / np.sqrt(v), df) for v, df in self.errors(c))

    def half(self, c, alpha):
        return max(stats.t.isf(alpha / 2, df) * np.sqrt(v) for v, df in self.errors(c))

    def each(self, cs, alpha):
        cov = lambda c, d: c @ (self.Gain if self.l2 > 0 else self.S) @ d
        common = np.mean([cov(cs[i], cs[j]) for i in range(len(cs)) for j in range(i)])
        b = np.sqrt(np.clip([common / cov(c, c) for c in cs], 0, 0.9))
        s = np.sqrt(1 - b * b)

        def any_(p):
            z = stats.norm.isf(p / 2)
            f = lambda x: stats.norm.pdf(x) * np.prod(stats.norm.cdf((z - b * x) / s) - stats.norm.cdf((-z - b * x) / s))
            return 1 - integrate.quad(f, -9, 9, epsabs=1e-13, limit=400)[0]
        return optimize.brentq(lambda p: any_(p) - alpha, alpha / len(cs) / 2, alpha, xtol=1e-14)


def case(rng, blocks, arms, sd, noise, missing, robust, control, odd=0.0):
    Y, launch = [], []
    for g, m in enumerate(blocks):
        u = sd * rng.standard_normal(arms)
        u[-1] -= odd * (g == 2)  # one launch of the last arm
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
    out = {"y": Y, "launch": launch, "control": control, "robust": robust, "launch_sd": np.sqrt(f.l2), "contrasts": []}
    each = f.each(cs, 0.05) if len(cs) > 1 else 0.05
    for c in cs:
        v, df = max(f.errors(c), key=lambda e: stats.t.isf(0.025, e[1]) * np.sqrt(e[0]))
        out["contrasts"].append({
            "c": c, "mean": c @ f.alpha, "se": np.sqrt(v), "df": float(df),
            "p": f.pvalue(c, c @ f.alpha), "half": f.half(c, 0.05), "family": f.half(c, each)})
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
    case(rng, [7, 9, 6, 8, 7], 5, 0.002, 0.01, 0.05, True, [0, 1], odd=0.2),
]
print(json.dumps(plain(cases)))
