package report

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// limitedRun is a run with limits, whose answers are of all four kinds.
func limitedRun() (*record.Effects, Source) {
	e := fixtures()["user"]
	s := sourceOf(e)
	s.Gate = someGate()
	return e, s
}

// Text, Markdown and page of a run have the same limits: each cost with its interval, its limit and its answer, with
// the time where it is undecided.
func TestLimitsOfARun(t *testing.T) {
	e, s := limitedRun()
	e = answered(e)
	var text, markdown, page, none bytes.Buffer
	for _, err := range []error{
		english.Text(&text, e, Options{Width: 140, Gate: s.Gate}), english.Markdown(&markdown, e, s.Gate), english.HTML(&page, e, s), english.Markdown(&none, e, nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(none.String(), "#### limits") {
		t.Error("a run without limits has some")
	}
	forms := map[string]string{
		"text":     text.String(),
		"markdown": strings.NewReplacer("**", "", "\\", "").Replace(markdown.String()),
		"page":     html.UnescapeString(regexp.MustCompile("<[^>]*>").ReplaceAllString(strings.NewReplacer("</t", " </t").Replace(page.String()), "")),
	}
	space := regexp.MustCompile(`[\s|\x{a0}]+`)
	for name, form := range forms {
		form = space.ReplaceAllString(form, " ")
		for _, want := range []string{
			"rpc container throughput 28 % [12, 42] 5 % exceeded (total)", "rpc nat p99 – 10 % invalid",
			"commit container throughput 4.8 % [2.1, 8.0] 5 % undecided, 6 min more", "commit cgroup throughput 0.3 % [-0.4, 1.1] 5 % pass",
			"above the limit with the whole interval.", "too few operations beyond the quantile",
		} {
			if n := strings.Count(form, want); n != 1 {
				t.Errorf("%s has %q %d times", name, want, n)
			}
		}
	}
	golden(t, "limits.md", markdown.Bytes())
	goldenPage(t, "limits.html", page.String())
}

// The page with limits is seen whole in a browser.
func TestPageOfLimits(t *testing.T) {
	b := newBrowser(t)
	e, s := limitedRun()
	b.open(t, answered(e), s)
	b.look(t, "limits")
	b.print(t, "limits-print")
	for _, c := range b.complaints {
		t.Error(c)
	}
}
