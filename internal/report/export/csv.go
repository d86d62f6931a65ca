package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// CSV prints one line per effect, step, remainder and twin, in base units:
// seconds, operations per second, ratios with 1.0 for equal. What is not
// known is empty. Columns are only ever added, at the end. Of a price matrix
// there are lines of the kinds regained, whose typical columns are the share of
// the loss, and neighbour, whose total columns are its work over that without
// isolation; they have no verdict.
func CSV(w io.Writer, e *record.Effects) error {
	out := csv.NewWriter(w)
	var header []string
	for _, c := range Columns() {
		header = append(header, c.Name)
	}
	out.Write(header)
	for _, r := range rows(e) {
		out.Write(r.csv(e.Seed))
	}
	for _, r := range priceRows(e) {
		const verdict, p, adjusted, blocks, generations = 17, 20, 21, 22, 23
		line := r.csv(e.Seed)
		line[verdict], line[p], line[adjusted], line[blocks], line[generations] = "", "", "", "", ""
		out.Write(line)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the effects as CSV: %w", err)
	}
	return nil
}

// Column is a column of CSV.
type Column struct{ Name, Is string }

func (x row) csv(seed uint64) []string {
	line := []string{x.kind, cell(x.Workload), cell(x.Metric), cell(x.unit), cell(x.Arm), cell(x.Baseline), field(x.arm), field(x.baseline)}
	for _, r := range []*record.Ratio{x.Typical, x.Total, x.Own} {
		line = append(line, ratio(r)...)
	}
	var bound [2]string
	if b := x.Bound; b != nil {
		bound = [2]string{number(b.Low), number(b.High)}
	}
	return append(line,
		x.Verdict.String(), code(x.Reason), strconv.FormatBool(x.Exploratory),
		probability(x.P), probability(x.Adjusted), strconv.Itoa(x.Blocks), strconv.Itoa(x.Generations),
		known(x.Detectable), number(x.Needed), known(x.Slow),
		strconv.FormatBool(x.Intermittent), code(x.Unequal), strconv.FormatUint(seed, 10), known(x.Observed), bound[0], bound[1], known(x.AtMost))
}

// code is the code of what is said, or the text of what has none.
func code(s record.Said) string {
	if text, ok := s.Value("text").(string); ok && s.Code == record.Prose {
		return cell(text)
	}
	return s.Code
}

// ratio is a ratio and the two ends of its interval; empty where there is none.
func ratio(r *record.Ratio) []string {
	if r == nil {
		return []string{"", "", ""}
	}
	return []string{number(r.Ratio), number(r.Low), number(r.High)}
}

// field is a value in CSV, in its base unit; empty where it is not known.
func field(v record.Value) string {
	x, ok := v.Get()
	if !ok {
		return ""
	}
	return number(x)
}

// known leaves out what is 0 in the effects because it is not known.
func known(x float64) string {
	if x == 0 {
		return ""
	}
	return number(x)
}

// probability is a p-value in CSV; empty where there is no test.
func probability(x *float64) string {
	if x == nil {
		return ""
	}
	return number(*x)
}

// digits are the significant digits of a fraction in CSV: further ones differ between processors.
const digits = 9

// number is a number in CSV; empty where it is none.
func number(x float64) string {
	if !quantity.Finite(x) {
		return ""
	}
	if x != math.Trunc(x) {
		x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
