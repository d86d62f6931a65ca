package format

// Cursor reads a line from left to right. Bad is set by the first thing that does not fit.
type Cursor struct {
	B   []byte
	I   int // bytes read
	Bad bool
}

// Lit reads a text, which must come next.
func (c *Cursor) Lit(s string) {
	if !c.Try(s) {
		c.Bad = true
	}
}

// Has reports whether a text comes next.
func (c *Cursor) Has(s string) bool {
	return len(c.B)-c.I >= len(s) && string(c.B[c.I:c.I+len(s)]) == s
}

// Try reads a text if it comes next.
func (c *Cursor) Try(s string) bool {
	if !c.Has(s) {
		return false
	}
	c.I += len(s)
	return true
}

// Num reads a number of at least 0, behind blanks.
func (c *Cursor) Num() float64 {
	for c.I < len(c.B) && c.B[c.I] == ' ' {
		c.I++
	}
	x, n := Number(c.B[c.I:])
	if n == 0 || x < 0 {
		c.Bad = true
		return 0
	}
	c.I += n
	return x
}

// Some is Num as a known number.
func (c *Cursor) Some() Num { return Some(c.Num()) }

// OrNaN is Some, or a missing number if nan comes next.
func (c *Cursor) OrNaN() Num {
	for _, w := range []string{"nan", "-nan", "NaN", "-NaN"} {
		if c.Try(w) {
			return Num{}
		}
	}
	return c.Some()
}
