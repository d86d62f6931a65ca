package record

import (
	"errors"
	"fmt"
	"math"
	"reflect"
)

// Bounds of a result, which may be another user's or damaged. They bound the time and memory of a
// report.
const (
	MostArms  = 64        // of a load
	MostPairs = 32_768    // of loads and arms
	MostName  = 1 << 10   // bytes of a name
	mostText  = 64 << 10  // bytes of any other text of a plan or manifest
	mostYAML  = 4 << 20   // bytes of the experiment as YAML
	mostCount = 1<<31 - 1 // of launches, blocks, runs
	mostTime  = 1e9       // seconds
)

// ErrBounds means that a result exceeds the bounds.
var ErrBounds = errors.New("more than a result may have")

// Check checks names, their lengths, and the number of arms of a plan.
func (p *Plan) Check() error {
	if len(p.Source) > mostYAML {
		return fmt.Errorf("the experiment has %d bytes, %d are allowed: %w", len(p.Source), mostYAML, ErrBounds)
	}
	if err := checkName("experiment", p.Experiment); err != nil {
		return err
	}
	pairs := 0
	loads := map[string]bool{}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		if err := w.check(); err != nil {
			return fmt.Errorf("workload %.100q: %w", w.Name, err)
		}
		if loads[w.Name] {
			return fmt.Errorf("workload %.100q is there twice", w.Name)
		}
		loads[w.Name] = true
		pairs += len(w.Arms)
	}
	if pairs > MostPairs {
		return fmt.Errorf("%d arms in %d workloads, %d are allowed: %w", pairs, len(p.Workloads), MostPairs, ErrBounds)
	}
	rest := *p
	rest.Source = ""
	return checkTexts(reflect.ValueOf(rest))
}

func (w *Workload) check() error {
	if len(w.Arms) > MostArms {
		return fmt.Errorf("%d arms, %d are allowed: %w", len(w.Arms), MostArms, ErrBounds)
	}
	for what, name := range map[string]string{"name": w.Name, "kind": w.Kind} {
		if err := checkName(what, name); err != nil {
			return err
		}
	}
	for _, list := range [][]string{w.Judged, w.Metrics} {
		for _, name := range list {
			if err := checkName("metric", name); err != nil {
				return err
			}
		}
	}
	if !validTime(w.Budget) {
		return fmt.Errorf("a budget of %v s", w.Budget)
	}
	arms := map[string]bool{}
	for _, a := range w.Arms {
		if err := checkName("arm", a.Name); err != nil {
			return err
		}
		if a.Name == "" || arms[a.Name] {
			return fmt.Errorf("the arm %q is there twice, or has no name", a.Name)
		}
		arms[a.Name] = true
	}
	return w.checkReferences(arms)
}

// checkReferences returns an error if the workload names an arm or neighbour that it does not have.
func (w *Workload) checkReferences(arms map[string]bool) error {
	neighbours := map[string]bool{}
	for _, n := range w.Neighbours {
		neighbours[n.Name] = true
	}
	missing := func(what, name string, among map[string]bool) error {
		if name == "" || among[name] {
			return nil
		}
		return fmt.Errorf("its %s %.100q is not there", what, name)
	}
	err := errors.Join(missing("baseline", w.Baseline, arms), missing("question", w.Question, arms))
	if err == nil && w.Question != "" && w.Question == w.Baseline {
		err = fmt.Errorf("its question %.100q is its baseline", w.Question)
	}
	for _, a := range w.Arms {
		if err == nil {
			err = errors.Join(missing("rung below "+a.Name, a.Step, arms), missing("neighbour of "+a.Name, a.Neighbour, neighbours),
				missing("launch of "+a.Name, a.Shares, arms), missing("arm beside "+a.Name, a.Against, arms))
		}
		if err == nil && a.Twin && a.Name == w.Question {
			err = fmt.Errorf("its question %.100q is its twin", w.Question)
		}
	}
	return err
}

// check checks that counts in a line are not negative, times are finite and names are short.
func (l *Line) check() error {
	switch {
	case l.Block != nil:
		return l.Block.check()
	case l.Generation != nil:
		return errors.Join(checkCount("generation", l.Generation.Number), checkSeconds("launch_seconds", l.Generation.Seconds))
	case l.Pilot != nil:
		return errors.Join(checkCount("blocks", l.Pilot.Blocks), checkSeconds("window_seconds", l.Pilot.Window), checkSeconds("discard_seconds", l.Pilot.Discard))
	case l.Observed != nil:
		return errors.Join(checkCount("number", l.Observed.Number), checkSeconds("seconds", l.Observed.Seconds), checkName("arm", l.Observed.Arm))
	}
	return nil
}

func (b *Block) check() error {
	if len(b.Windows) > MostArms {
		return fmt.Errorf("a block of %d windows: %w", len(b.Windows), ErrBounds)
	}
	if err := errors.Join(checkCount("generation", b.Generation), checkCount("number", b.Number)); err != nil {
		return err
	}
	for i := range b.Windows {
		w := &b.Windows[i]
		if err := errors.Join(checkName("arm", w.Arm), checkSeconds("start", w.Start), checkSeconds("seconds", w.Seconds), checkSeconds("first_seconds", w.FirstSeconds)); err != nil {
			return err
		}
	}
	return nil
}

func checkName(what, name string) error {
	if len(name) > MostName {
		return fmt.Errorf("a %s of %d bytes, %d are allowed: %w", what, len(name), MostName, ErrBounds)
	}
	return nil
}

func checkCount(what string, n int) error {
	if n < 0 || n > mostCount {
		return fmt.Errorf("%s is %d", what, n)
	}
	return nil
}

func checkSeconds(what string, seconds float64) error {
	if !validTime(seconds) {
		return fmt.Errorf("%s is %v", what, seconds)
	}
	return nil
}

// validTime says whether a time is not negative and not too long.
func validTime(seconds float64) bool {
	return seconds >= 0 && seconds <= mostTime && !math.IsNaN(seconds)
}

// checkTexts checks the length of every text in a value.
func checkTexts(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > mostText {
			return fmt.Errorf("a text of %d bytes, %d are allowed: %w", v.Len(), mostText, ErrBounds)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := checkTexts(v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkTexts(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			if err := errors.Join(checkTexts(at.Key()), checkTexts(at.Value())); err != nil {
				return err
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkTexts(v.Elem())
		}
	}
	return nil
}
