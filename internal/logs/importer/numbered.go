package importer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

// mostSpread is the largest ratio of the figures of repeats. What runs of one load on one machine give is closer.
const mostSpread = 2

// splitNumbered makes different loads, in all arms, of runs under numbered headings whose figures do not agree.
func (r *Result) splitNumbered(all []*observed.Run) {
	var keys []string
	loads := map[string][]*observed.Run{}
	for _, x := range all {
		if x.Heading == "" {
			continue
		}
		key := x.Tool + "\n" + x.Sub + "\n" + loadSettings(x, nil)
		if loads[key] == nil {
			keys = append(keys, key)
		}
		loads[key] = append(loads[key], x)
	}
	for _, key := range keys {
		least, most, first := spread(loads[key])
		if first == nil {
			continue
		}
		var names []string
		for _, x := range loads[key] {
			x.Sub = strings.TrimSpace(x.Sub + " " + x.Heading)
			if !slices.Contains(names, x.Heading) {
				names = append(names, x.Heading)
			}
		}
		r.warn(first.Arm, first.File, format.Warning{Line: first.Line, Text: numberedApart(least, most, shortened(names)), Remedy: ownFiles})
	}
}

// spread returns the smallest and largest main figure of a file's runs, and the first run of the file, where they do
// not agree; nil: they agree in every file.
func spread(runs []*observed.Run) (least, most float64, first *observed.Run) {
	byFile := map[string][]*observed.Run{}
	for _, x := range runs {
		byFile[x.Arm+"\n"+x.File] = append(byFile[x.Arm+"\n"+x.File], x)
	}
	for _, x := range runs {
		list := byFile[x.Arm+"\n"+x.File]
		low := slices.MinFunc(list, func(a, b *observed.Run) int { return cmp.Compare(mainFigure(a), mainFigure(b)) })
		high := slices.MaxFunc(list, func(a, b *observed.Run) int { return cmp.Compare(mainFigure(a), mainFigure(b)) })
		if l, h := mainFigure(low), mainFigure(high); h > mostSpread*l {
			return l, h, list[0]
		}
		byFile[x.Arm+"\n"+x.File] = list[:1] // once is enough
	}
	return 0, 0, nil
}

// mainFigure is the figure of a finished run that its load is judged by.
func mainFigure(x *observed.Run) float64 {
	if len(x.Metrics) == 0 {
		return 0
	}
	main := metricsOf([]*observed.Run{x})[0]
	f := x.Figures[slices.Index(x.Metrics, main)]
	if v, ok := f.Total.Get(); ok {
		return v
	}
	v, _ := f.Mean.Get()
	return v
}
