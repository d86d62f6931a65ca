package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/counter"
)

// arm is an arm that is running: a plan, and the processes on which it is measured.
type arm struct {
	planned  plan.PlannedArm
	instance *instance
}

// instance is a group of launched processes on which one or several arms are measured.
type instance struct {
	name      string
	volume    *volume.Opened
	opened    environment.OpenArm
	load      environment.Running
	server    environment.Running // nil: the load has none
	processes session.Processes
	session   session.Session // of the processes, once they run
	log       *os.File
	facts     *os.File          // what the load read back
	values    []workload.Metric // what the load adds up itself

	guard          *launch.Guard
	neighbour      *neighbour // nil: none
	endedNeighbour *neighbour // a neighbour that ended before the instance; nil: none
	neighbourErr   error      // why a neighbour of the plan could not be started
	inForce        isolationInForce
}

// locate looks up where things are on the instance, and which freezers stop them. A neighbour on this
// host is frozen together with its arm.
func (s *instance) locate() {
	s.processes.Place = s.opened.Place()
	pause := s.guard.Hold(s.processes.Place.Pause)
	if s.processes.Alone != pause {
		launch.Release(s.processes.Alone)
	}
	s.processes.Alone = pause
	if n := s.neighbour; n != nil && n.process.Pause != nil && n.process.Remote == nil && pause != nil {
		pause = session.Joint(n.process.Pause, pause)
	}
	if pause != nil {
		pause = isolationFreezer{pause, s}
	}
	s.processes.Freezer = pause
}

// ready says whether the load is ready, or why it will not be.
func (s *instance) ready(ctx context.Context, deadline time.Time, within time.Duration) (bool, error) {
	state, note := s.processes.Memory.State()
	switch {
	case state == counter.Failed:
		return false, s.whyFailed(note)
	case state == counter.Ready:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case time.Now().After(deadline):
		return false, fmt.Errorf("the load was not ready after %v", within)
	}
	return false, s.died()
}

// whyFailed says why a load failed. The end of its server comes first: the load's own note is then
// a consequence, perhaps of another server at the same address.
func (s *instance) whyFailed(note string) error {
	err := fmt.Errorf("the load gave up: %s", note)
	if s.server != nil && environment.Ended(s.server) {
		return fmt.Errorf("the server %w; %w", describeExit(s.server.Exit()), err)
	}
	return err
}

// died says how the server or the load ended; nil while both run. The server comes first: a load
// ends because its server did.
func (s *instance) died() error {
	if s.server != nil && environment.Ended(s.server) {
		return fmt.Errorf("the server %w", describeExit(s.server.Exit()))
	}
	if s.load != nil && environment.Ended(s.load) {
		return fmt.Errorf("the load %w", describeExit(s.load.Exit()))
	}
	return nil
}

// diedBy is died, or why the load failed; it waits for that until end.
func (s *instance) diedBy(end time.Time) error {
	for ; ; time.Sleep(5 * time.Millisecond) {
		if state, note := s.processes.Memory.State(); state == counter.Failed {
			return s.whyFailed(note)
		}
		if died := s.died(); died != nil || time.Now().After(end) {
			return died
		}
	}
}

func describeExit(e environment.Exit) error {
	switch {
	case e.OOM:
		return hint.New(errors.New("ended by the out-of-memory killer"), "raise the memory limit of the arm, or give the load less to hold")
	case e.Signal != "":
		return fmt.Errorf("ended by %s", e.Signal)
	case e.Err != nil:
		return e.Err
	}
	return fmt.Errorf("ended with exit code %d", e.Code)
}

// close ends what runs on the instance and takes back what it changed.
func (s *instance) close() error {
	var errs []error
	if s.session != nil {
		errs = append(errs, s.session.Close())
	}
	errs = append(errs, s.undoIsolation())
	launch.Release(s.processes.Alone)
	if s.opened != nil {
		errs = append(errs, s.opened.Close())
	}
	for _, n := range []*neighbour{s.neighbour, s.endedNeighbour} {
		if n != nil {
			errs = append(errs, n.close())
		}
	}
	if s.processes.Memory != nil {
		errs = append(errs, s.processes.Memory.Close())
	}
	return errors.Join(append(errs, closeFiles(s.log, s.facts))...)
}

// closeFiles closes files; those that are nil were never opened.
func closeFiles(files ...*os.File) error {
	var errs []error
	for _, f := range files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
