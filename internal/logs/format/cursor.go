package format

// Cursor walks through a line; the first thing that does not fit makes it Bad.
type Cursor struct {
	B   []byte
	I   int // how much was passed over
	Bad bool
}

// Lit passes over a text.
func (c *Cursor) Lit(s string) {
	if !c.Try(s) {
		c.Bad = true
	}
}

// Has says whether a text comes next.
func (c *Cursor) Has(s string) bool {
	return len(c.B)-c.I >= len(s) && string(c.B[c.I:c.I+len(s)]) == s
}

// Try passes over a text if it is there.
func (c *Cursor) Try(s string) bool {
	if !c.Has(s) {
		return false
	}
	c.I += len(s)
	return true
}

// Num passes over blanks and a number that is not negative.
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

// Some passes over a number.
func (c *Cursor) Some() Num { return Some(c.Num()) }

// OrNaN passes over a number, or over the nan that some print for nothing.
func (c *Cursor) OrNaN() Num {
	for _, w := range []string{"nan", "-nan", "NaN", "-NaN"} {
		if c.Try(w) {
			return Num{}
		}
	}
	return c.Some()
}
