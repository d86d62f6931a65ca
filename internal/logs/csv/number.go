package csv

import (
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/base/units"
	"github.com/tarelab/tare/internal/logs/format"
)

// numbers reads the numbers of one table. A table writes all its numbers in one way.
type numbers struct {
	commas, points bool // some number proves that a comma, or a point, is the decimal sign
	*format.Warnings
	line int // of the current row
}

var (
	// commaDecimal matches numbers whose comma can only be a decimal sign: 2,5 and 1.234,5.
	commaDecimal = regexp.MustCompile(`^[-+]?(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,})$`)
	// pointDecimal matches numbers whose point can only be a decimal sign, and commas that can be none.
	pointDecimal = regexp.MustCompile(`^[-+]?(?:\d+\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,})$`)
	// either matches numbers whose comma can be a decimal sign or separate thousands.
	either = regexp.MustCompile(`^[-+]?[1-9]\d{0,2},\d{3}$`)
	// eitherPoint is the same of a point.
	eitherPoint = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}\.\d{3}$`)
	// digits matches the number at the beginning of a field.
	digits = regexp.MustCompile(`^[~≈]?\s*([-+]?\d[\d.,]*)`)
)

// see looks at a field of a column of figures for what it proves.
func (n *numbers) see(field string) {
	if m := digits.FindStringSubmatch(strings.TrimSpace(field)); m != nil {
		x := strings.TrimRight(m[1], ",.")
		n.commas = n.commas || commaDecimal.MatchString(x)
		n.points = n.points || pointDecimal.MatchString(x)
	}
}

// plainNumber matches a number without a unit, and no range.
var plainNumber = regexp.MustCompile(`^[-+]?[\d.,]+$`)

// number reads a number without a unit.
func (n *numbers) number(s string) format.Num {
	s = strings.TrimSuffix(strings.TrimSpace(s), "%")
	commas, points := n.commas && !n.points, n.points && !n.commas
	switch {
	case either.MatchString(s) && points:
		n.Once(n.line, thousandsRead, checkThem)
		return format.Whole([]byte(strings.ReplaceAll(s, ",", "")))
	case either.MatchString(s) && !commas, eitherPoint.MatchString(s) && n.commas && n.points:
		n.Once(n.line, ambiguousComma(s), writePoint)
		return format.Num{}
	case eitherPoint.MatchString(s) && commas:
		n.Once(n.line, thousandsRead, checkThem)
		return format.Whole([]byte(strings.ReplaceAll(s, ".", "")))
	}
	if x := format.Whole([]byte(s)); x.Known() {
		return x
	}
	switch {
	case pointDecimal.MatchString(s):
		n.Once(n.line, thousandsRead, checkThem)
		return format.Whole([]byte(strings.ReplaceAll(s, ",", "")))
	case commaDecimal.MatchString(s) && strings.ContainsAny(s, ".") || strings.Count(s, ".") > 1:
		n.Once(n.line, thousandsRead, checkThem)
		return format.Whole([]byte(strings.NewReplacer(".", "", ",", ".").Replace(s)))
	case strings.Count(s, ",") == 1:
		if x := format.Whole([]byte(strings.Replace(s, ",", ".", 1))); x.Known() {
			n.Once(n.line, commasRead, checkCommas)
			return x
		}
	}
	return format.Num{}
}

// measured matches a number with k, M, a unit, a range of an error or a remark in brackets behind it.
var measured = regexp.MustCompile(`^[~≈]?\s*([-+]?\d[\d.,]*)\s*([kKM]?)\s*([A-Za-zµμ%/秒毫微]*)\s*(?:(?:±|\+/-|\+-|\().*)?$`)

// fromTo matches a range: 2000-3000, 4-6ms, 1.5k – 2k, 3~4.
var fromTo = regexp.MustCompile(`^[~≈]?\s*\d[\d.,]*\s*[A-Za-zµμ%/]*\s*(?:-|–|—|~|\.\.\.?|…|to|bis|至|到)\s*\d[\d.,]*\s*[A-Za-zµμ%/]*$`)

// figure converts a field to base units, from its own unit if it has one, else from the heading's.
func (n *numbers) figure(s string, c *Column) format.Num {
	s = strings.TrimSpace(s)
	if x := n.number(s); x.Known() {
		return x.Times(c.scale)
	}
	m := measured.FindStringSubmatch(s)
	if m == nil {
		if fromTo.MatchString(s) {
			n.Once(n.line, aRange(s, c.Name), writeOne)
		}
		return format.Num{}
	}
	scale, unit := c.scale, folded(m[2]+m[3])
	u, known := known().units[unit]
	if !known {
		u, known = units.OfHeading(m[2] + m[3])
	}
	switch {
	case unit == "":
	case known && (c.Unit == "" || c.Unit == u.Base): // 523 MB/s, 20 ms
		scale = u.Scale
	case m[3] == "" || rate(m[3]):
		scale *= map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6}[m[2]]
	default:
		return format.Num{}
	}
	return n.number(m[1]).Times(scale)
}

// rate reports whether a unit is a rate per second.
func rate(unit string) bool { return figureOf(unit).metric(false).Unit == "1/s" }

// unitIn returns the base unit that a field writes behind its number; empty: none.
func unitIn(s string) string {
	m := measured.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil || m[2]+m[3] == "" {
		return ""
	}
	if u, ok := known().units[folded(m[2]+m[3])]; ok {
		return u.Base
	}
	return ""
}
