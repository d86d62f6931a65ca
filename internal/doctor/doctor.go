// Package doctor says what this host can do, what it is, and how noisy it is:
// facts, three-valued checks with remedies, and a look at its noise. It changes
// nothing but a scratch file that it removes, and knows nothing of printing. What
// has to be tried out in namespaces is tried by package environment/inspect,
// whose answers it takes over.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/record"
)

// Report is all that the doctor says.
type Report struct {
	Host   record.Host `json:"host"`
	Checks []Check     `json:"checks"`
	Noise  Noise       `json:"noise"`
}

// Check is one question about this host. Yes is good for measuring.
type Check struct {
	Name  string // "fdatasync"
	Title string // the question's subject, for people
	// Support is the answer; Reason says what was found, after a yes too.
	environment.Support
}

// Word is the answer in a word: yes, no, unknown.
func (c Check) Word() string {
	switch c.Answer {
	case environment.Yes:
		return "yes"
	case environment.No:
		return "no"
	}
	return "unknown"
}

// MarshalJSON writes the answer as a word.
func (c Check) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name   string `json:"name"`
		Title  string `json:"title"`
		Answer string `json:"answer"`
		Reason string `json:"reason"`
		Remedy string `json:"remedy,omitempty"`
	}{c.Name, c.Title, c.Word(), c.Reason, c.Remedy})
}

// Patient is what to examine.
type Patient struct {
	Root    string           // "/" outside tests
	Scratch string           // the directory whose file system will be under test
	Host    environment.Host // what was tried out
}

// Examine answers everything. Looking at the noise takes the time noise, and
// all the rest a few hundred ms at most. The report is as complete as it can be
// also when there is an error.
func Examine(ctx context.Context, p Patient, noise time.Duration) (Report, error) {
	r := Report{Host: Facts(p.Root), Checks: Checks(p)}
	var err error
	if r.Noise, err = Look(ctx, noise); err != nil {
		return r, fmt.Errorf("look at the noise of this host: %w", err)
	}
	return r, nil
}

func yes(format string, args ...any) environment.Support {
	return environment.Support{Answer: environment.Yes, Reason: fmt.Sprintf(format, args...)}
}

func no(remedy, format string, args ...any) environment.Support {
	return environment.Unsupported(fmt.Sprintf(format, args...), remedy)
}

func unknown(remedy, format string, args ...any) environment.Support {
	return environment.Support{Answer: environment.Unknown, Reason: fmt.Sprintf(format, args...), Remedy: remedy}
}
