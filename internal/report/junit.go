package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// The elements of a JUnit report, as Ant's junitreport and Jenkins read them:
// a suite per workload, a case per judgement. An exceeded limit is a failure;
// what is undecided or invalid is an error, since a skipped case would pass.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		counts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		counts
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Host       string          `xml:"hostname,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	counts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitTrouble `xml:"failure"`
		Error   *junitTrouble `xml:"error"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitTrouble struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit prints what tare check found as JUnit XML, which CI systems show as
// tests.
func JUnit(w io.Writer, g *record.Gate) error {
	in := In(messages.In(messages.English)) // for programs
	all := junitSuites{Name: "tare check"}
	for _, name := range distinct(g.Judgements, func(j record.Judgement) string { return j.Workload }) {
		s := in.suite(g, name)
		all.add(s.counts)
		all.Suites = append(all.Suites, s)
	}
	b, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	}
	if err != nil {
		return fmt.Errorf("write the check as JUnit XML: %w", err)
	}
	return nil
}

func (in Language) suite(g *record.Gate, workload string) junitSuite {
	s := junitSuite{
		Name: export.Clean(workload), Time: "0", Timestamp: junitTime(g.Started), Host: export.Clean(g.Host.Name),
		Properties: []junitProperty{
			{"experiment", export.Clean(g.Experiment)}, {"seed", strconv.FormatUint(g.Seed, 10)},
			{"kernel", export.Clean(g.Host.Kernel)}, {"cpu", export.Clean(g.Host.CPUModel)},
		},
	}
	for _, j := range g.Judgements {
		if j.Workload != workload {
			continue
		}
		c := in.junitCaseOf(g, j)
		one := counts{Tests: 1}
		if c.Failure != nil {
			one.Failures = 1
		}
		if c.Error != nil {
			one.Errors = 1
		}
		s.add(one)
		s.Cases = append(s.Cases, c)
	}
	return s
}

func (c *counts) add(o counts) {
	c.Tests, c.Failures, c.Errors, c.Skipped = c.Tests+o.Tests, c.Failures+o.Failures, c.Errors+o.Errors, c.Skipped+o.Skipped
}

func (in Language) junitCaseOf(g *record.Gate, j record.Judgement) junitCase {
	message := in.text("junit.message", "answer", in.answerWord(j.Answer), "metric", j.Metric, "arm", j.Arm, "baseline", j.Baseline, "cost", costCell(j).whole(), "limit", quantity.Size(j.Most))
	if j.Needed > 0 {
		message = in.text("junit.needed", "message", message, "time", in.about(j.Needed))
	}
	message = export.Clean(message)
	c := junitCase{
		Name: export.Clean(in.text("junit.case", "arm", j.Arm, "metric", j.Metric, "limit", quantity.Size(j.Most))), Time: "0",
		Class: export.Clean(strings.Join([]string{"tare", g.Experiment, j.Workload}, ".")),
	}
	trouble := &junitTrouble{Message: message, Type: j.Answer.String(), Text: export.Clean(in.said(j.Reason))}
	switch j.Answer {
	case record.AnswerPass:
		c.Out = message
	case record.AnswerExceeded:
		c.Failure = trouble
	default:
		c.Error = trouble
	}
	return c
}

// junitTime is a time as JUnit's schema wants it: UTC without a zone.
func junitTime(s string) string {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}
