package export

import (
	"io"
	"slices"

	"github.com/tarelab/tare/record"
)

// JSON prints the effects as one indented object, schema tare/effects/v1. An
// empty list is [] and never null. A number that is not finite is an error:
// JSON has no word for it, and effects must give a reason instead.
func JSON(w io.Writer, e *record.Effects) error {
	return Object(w, withoutNull(e))
}

// withoutNull is a copy in which every list and map is there.
func withoutNull(e *record.Effects) record.Effects {
	out := *e
	if out.Schema == "" {
		out.Schema = record.EffectsSchema
	}
	out.Workloads = there(slices.Clone(e.Workloads))
	for i := range out.Workloads {
		out.Workloads[i].Checks = there(out.Workloads[i].Checks)
	}
	out.Arms = there(slices.Clone(e.Arms))
	for i := range out.Arms {
		out.Arms[i].Values = present(out.Arms[i].Values)
	}
	out.Kernel = there(slices.Clone(e.Kernel))
	for i := range out.Kernel {
		out.Kernel[i].Values = present(out.Kernel[i].Values)
	}
	out.Prices = slices.Clone(e.Prices)
	for i := range out.Prices {
		pricePresent(&out.Prices[i])
	}
	out.Effects, out.Steps = there(e.Effects), there(e.Steps)
	out.Remainder, out.Twin = there(e.Remainder), there(e.Twin)
	out.Left, out.Warnings = there(e.Left), there(e.Warnings)
	return out
}

func there[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func present[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

func pricePresent(p *record.Price) {
	p.Metrics, p.Explained, p.Rows = there(p.Metrics), there(slices.Clone(p.Explained)), there(slices.Clone(p.Rows))
	for i := range p.Explained {
		p.Explained[i].Evidence = there(p.Explained[i].Evidence)
	}
	for i := range p.Rows {
		p.Rows[i].Isolation, p.Rows[i].Back = there(p.Rows[i].Isolation), there(p.Rows[i].Back)
	}
}
