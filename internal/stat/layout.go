package stat

import "math"

// layout is incomplete blocks as flat lists: the windows of kept block i are
// from[i] to from[i+1] of arm and y. y is centred within its block, which changes
// nothing that is estimated and keeps rounding small.
type layout struct {
	arms     int
	block    []int // index of the kept block in the input
	from     []int
	arm      []int
	y        []float64
	count    []int // windows of each arm
	size     float64
	launches grouping // blocks by launch; all where no launch has two
	all      grouping // all blocks together
	seen     int      // number of launches
}

// grouping assigns blocks to groups. component[g][a] numbers the set of arms that
// blocks of group g connect with a (an arm alone is a set of its own); joined[g]
// is the number of arms less the number of sets: the rank of their differences.
type grouping struct {
	n         int
	of        []int
	component [][]int
	joined    []int
}

// arrange keeps the blocks with at least two windows.
func arrange(w Windows) *layout {
	l := &layout{arms: len(w.Y[0]), from: []int{0}, count: make([]int, len(w.Y[0]))}
	number := map[int]int{}
	for b, row := range w.Y {
		if !l.add(row) {
			continue
		}
		l.block = append(l.block, b)
		if _, ok := number[w.Launch[b]]; !ok {
			number[w.Launch[b]] = len(number)
		}
		l.launches.of = append(l.launches.of, number[w.Launch[b]])
	}
	l.seen = len(number)
	l.all = l.grouped(make([]int, len(l.block)), 1)
	if l.seen == 1 || l.seen == len(l.block) {
		l.launches = l.all
	} else {
		l.launches = l.grouped(l.launches.of, l.seen)
	}
	return l
}

// add appends the windows of a block, if there are two.
func (l *layout) add(row []float64) bool {
	mean, n := 0.0, 0
	for _, y := range row {
		if finite(y) {
			mean, n = mean+y, n+1
		}
	}
	if n < 2 {
		return false
	}
	mean /= float64(n)
	for a, y := range row {
		if finite(y) {
			l.arm, l.y = append(l.arm, a), append(l.y, y-mean)
			l.count[a]++
			l.size = math.Max(l.size, math.Abs(y))
		}
	}
	l.from = append(l.from, len(l.y))
	return true
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// grouped finds what each of n groups connects.
func (l *layout) grouped(of []int, n int) grouping {
	g := grouping{n: n, of: of, component: make([][]int, n), joined: make([]int, n)}
	for i := range g.component {
		g.component[i] = make([]int, l.arms)
		for a := range g.component[i] {
			g.component[i][a] = a
		}
	}
	for b, k := range of {
		for i := l.from[b] + 1; i < l.from[b+1]; i++ {
			if merge(g.component[k], l.arm[i], l.arm[i-1]) {
				g.joined[k]++
			}
		}
	}
	return g
}

// merge makes two sets one, numbered by its smallest member; false when they
// were one.
func merge(set []int, a, b int) bool {
	x, y := set[a], set[b]
	if x == y {
		return false
	}
	for i := range set {
		if set[i] == x || set[i] == y {
			set[i] = min(x, y)
		}
	}
	return true
}

// present is how many arms have windows.
func (l *layout) present() int {
	n := 0
	for _, c := range l.count {
		if c > 0 {
			n++
		}
	}
	return n
}

// freedom is the windows that are left when each group has its blocks and arms
// fitted, and how many there were beside the blocks.
func (l *layout) freedom(g grouping) (left, of float64) {
	of = float64(len(l.y) - len(l.block))
	left = of
	for _, j := range g.joined {
		left -= float64(j)
	}
	return left, of
}

// clippable tells whether there is enough beside blocks and arms to tell usual
// windows from unusual ones.
func (l *layout) clippable() bool {
	left, _ := l.freedom(l.all)
	n, arms := float64(len(l.y)), float64(l.all.joined[0]+1)
	return left >= leastLeft*n && n >= leastEach*arms
}

// unusable says why nothing can be estimated.
func (l *layout) unusable() string {
	left, _ := l.freedom(l.launches)
	switch {
	case len(l.block) == 0:
		return "no block has windows of two arms"
	case len(l.block) == 1:
		return "a single block does not say how the next would be"
	case left < 1:
		return "no two blocks of a launch have the same arms: their scatter is unknown"
	}
	return ""
}

// windows of each arm by group.
func (l *layout) counts(g grouping) [][]float64 {
	n := rectangle(g.n, l.arms)
	for b, k := range g.of {
		for _, a := range l.arm[l.from[b]:l.from[b+1]] {
			n[k][a]++
		}
	}
	return n
}

func rectangle(rows, columns int) [][]float64 {
	m := make([][]float64, rows)
	flat := make([]float64, rows*columns)
	for i := range m {
		m[i] = flat[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return m
}
