package record

import "fmt"

var (
	// ErrTwice means that a part of a record is in it twice, as after a copy to its own end. It is ErrDamaged too.
	ErrTwice = fmt.Errorf("%w: a part of the record is in it twice", ErrDamaged)
	// ErrForeign means that a record is of another plan. It is ErrDamaged too.
	ErrForeign = fmt.Errorf("%w: the record is not this plan's", ErrDamaged)
)

// sequence checks what no line by itself shows: each run begins once, the launches and blocks of a load and the
// windows of an arm follow each other, and all are of one plan. Lines that were not read are not checked.
type sequence struct {
	plan   *Plan
	loads  map[string]*loadSequence
	begins map[string]int // line of each run, by its id
}

// loadSequence is how far the record of a load has come.
type loadSequence struct {
	arms              map[string]float64 // start of the last window of each arm
	any               bool
	generation, block int // of the last block
}

func newSequence(p *Plan) *sequence {
	s := &sequence{plan: p, loads: map[string]*loadSequence{}, begins: map[string]int{}}
	for _, w := range p.Workloads {
		l := &loadSequence{arms: map[string]float64{}}
		for _, a := range w.Arms {
			l.arms[a.Name] = -1
		}
		s.loads[w.Name] = l
	}
	return s
}

// add checks the next line; number counts from 1.
func (s *sequence) add(l *Line, number int) error {
	switch {
	case l.Run != nil:
		return s.run(l.Run, number)
	case l.Generation != nil:
		return s.known(l.Generation.Workload)
	case l.Pilot != nil:
		return s.known(l.Pilot.Workload)
	case l.Block != nil:
		return s.addBlock(l.Block)
	}
	return nil
}

func (s *sequence) run(r *Run, number int) error {
	if s.plan.Seed != 0 && r.Seed != s.plan.Seed { // a plan without a seed was not made for a run
		return fmt.Errorf("%w: its seed is %d, and that of %s is %d", ErrForeign, r.Seed, PlanFile, s.plan.Seed)
	}
	if first, again := s.begins[r.ID]; again && r.ID != "" {
		return fmt.Errorf("%w: run %.32q begins here and in line %d", ErrTwice, r.ID, first)
	}
	s.begins[r.ID] = number
	return nil
}

// known returns an error for a load that the plan does not have.
func (s *sequence) known(load string) error {
	if len(s.loads) > 0 && s.loads[load] == nil {
		return fmt.Errorf("%w: %s has no workload %.100q", ErrForeign, PlanFile, load)
	}
	return nil
}

// addBlock checks a block.
func (s *sequence) addBlock(b *Block) error {
	if err := s.known(b.Workload); err != nil {
		return err
	}
	l := s.loads[b.Workload]
	if l == nil {
		return nil // a plan without loads, which no report takes
	}
	if l.any && (b.Generation < l.generation || b.Generation == l.generation && b.Number <= l.block) {
		return fmt.Errorf("%w: block %d of launch %d of %.100s comes after block %d of launch %d", ErrTwice, b.Number, b.Generation, b.Workload, l.block, l.generation)
	}
	l.any, l.generation, l.block = true, b.Generation, b.Number
	for _, w := range b.Windows {
		last, ok := l.arms[w.Arm]
		switch {
		case !ok:
			return fmt.Errorf("%w: %.100s has no arm %.100q in %s", ErrForeign, b.Workload, w.Arm, PlanFile)
		case w.Start > 0 && w.Start <= last:
			return fmt.Errorf("%w: a window of %.100s in %.100s begins at %g s, and the one before it at %g s", ErrTwice, w.Arm, b.Workload, w.Start, last)
		}
		l.arms[w.Arm] = w.Start
	}
	return nil
}
