package importer

import (
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

// join makes one run of files that are parts of one run, with a warning.
func (r *Result) join(arm string, runs []*observed.Run) []*observed.Run {
	var out []*observed.Run
	parts := map[string][]*observed.Run{}
	key := func(x *observed.Run) string { return x.Whole + "\n" + x.Sub + "\n" + loadSettings(x, nil) }
	for _, x := range runs {
		if x.Whole != "" {
			parts[key(x)] = append(parts[key(x)], x)
		}
	}
	for _, x := range runs {
		list := parts[key(x)]
		switch {
		case x.Whole == "" || len(list) == 1:
			out = append(out, x)
		case x == list[0]:
			out = append(out, observed.Join(list))
			r.warn(arm, x.File, format.Warning{
				Text: filesOfOneRun(len(list) - 1)})
		}
	}
	return out
}
