package importer

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/logs/csv"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/record"
)

var armName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]*$`)

// Arms reads words such as "host=bare/*.log". A word without a name belongs to the arm before it, because
// a shell expands patterns so; the first words may have no name. Arms expands patterns that no shell
// expanded. Words with the same name are one arm.
func Arms(words []string) ([]ArmFiles, error) {
	var arms []ArmFiles
	last := 0 // the arm of words without a name
	for _, w := range words {
		name, path, named := strings.Cut(w, "=")
		if !named || !armName.MatchString(name) {
			if path = w; len(arms) == 0 {
				arms = append(arms, ArmFiles{}) // a table may name its arms itself: see Options.unnamed
			}
		} else {
			last = slices.IndexFunc(arms, func(a ArmFiles) bool { return a.Name == name })
			if last < 0 {
				last = len(arms)
				arms = append(arms, ArmFiles{Name: name})
			}
		}
		files, err := expand(path)
		if err != nil {
			return nil, err
		}
		arms[last].Files = append(arms[last].Files, files...)
	}
	return arms, nil
}

// unnamed returns an error if neither the command line nor a file names the arm of a run.
func (o *Options) unnamed(a ArmFiles, all []*observed.Run) error {
	if a.Name != "" {
		return nil
	}
	for _, x := range all {
		if x.Arm == "" && !x.SubIsArm {
			return hint.New(fmt.Errorf("%q does not say which arm it is of", x.File), "write NAME=FILE, as in: tare import host=bare/*.log pod=pod/*.log")
		}
	}
	return nil
}

// expand lists the files of a pattern. The name of an existing file is no pattern.
func expand(path string) ([]string, error) {
	if path == "" {
		return nil, hint.New(fmt.Errorf("an arm without a file"), "write NAME=FILE")
	}
	if _, err := os.Stat(path); err == nil || path == "-" || !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	files, err := filepath.Glob(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(files) == 0 {
		return nil, hint.New(fmt.Errorf("no file is called %s", path), "check the directory and the pattern")
	}
	return files, nil
}

// alone reports that there is only one arm, which is summarised and not compared.
func (o *Options) alone() bool {
	return !slices.ContainsFunc(o.Arms, func(a ArmFiles) bool { return a.Name != o.Arms[0].Name })
}

// claimForm matches METRIC=CHANGE% and ARM:METRIC=CHANGE%.
var claimForm = regexp.MustCompile(`^(?:([^:=]+):)?([^:=]+)=([+-]?\d+(?:[.,]\d+)?) ?%$`)

// Claim reads "p50=-42%", or "pod:p50=-42%" for one of several arms.
func Claim(word string) (record.Claim, error) {
	m := claimForm.FindStringSubmatch(strings.ReplaceAll(word, "−", "-"))
	if m == nil {
		return record.Claim{}, hint.New(fmt.Errorf("%q is no claim", word), "write METRIC=CHANGE%, as in p50=-42% or pod:throughput=-10.5%")
	}
	number := strings.ReplaceAll(m[3], ",", ".")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return record.Claim{}, fmt.Errorf("%q: %w", word, err)
	}
	decimals := 0
	if i := strings.IndexByte(number, '.'); i >= 0 {
		decimals = len(number) - i - 1
	}
	return record.Claim{Arm: m[1], Metric: MetricCalled(m[2]), Change: x / 100, Digit: math.Pow10(-decimals - 2)}, nil
}

// MetricCalled returns the metric that tools and people call by another name, such as throughput for tps.
// An unknown word stays as it is.
func MetricCalled(name string) string {
	lower := strings.ToLower(strings.TrimSpace(name))
	if m := csv.Metric(lower); m.Name != "" {
		return m.Name
	}
	return lower
}

// claim fills in and checks the arm of a claim.
func (o *Options) claim(c *record.Claim) error {
	var others []string
	for _, a := range o.Arms {
		if a.Name != o.Baseline && !slices.Contains(others, a.Name) {
			others = append(others, a.Name)
		}
	}
	switch {
	case len(others) == 0:
		return hint.New(fmt.Errorf("the claim about %s needs a second arm", c.Metric), "name the files of both: tare import host=a.log pod=b.log")
	case c.Arm == "" && len(others) == 1:
		c.Arm = others[0]
	case c.Arm == "":
		return hint.New(fmt.Errorf("the claim about %s does not say which arm it is about", c.Metric), fmt.Sprintf("write %s:%s=...", others[0], c.Metric))
	case !slices.Contains(others, c.Arm):
		return fmt.Errorf("the claim about %s is about %q, which is not an arm beside the baseline%s", c.Metric, c.Arm, hint.DidYouMean(c.Arm, others))
	}
	return nil
}
