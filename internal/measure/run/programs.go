package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/identity"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
)

// Programs are the files of this host that a run executes, as they were when they were identified.
type Programs struct {
	plan  *plan.Plan
	named []string // paths, as the names were resolved
	files identity.Files
}

// Identify identifies the programs of a plan: tare, runtimes and engines, servers, clients and scripts. Libraries
// follow when the first arms run.
func Identify(p *plan.Plan) (*Programs, error) {
	all := &Programs{plan: p}
	own, err := identity.Own()
	if err != nil {
		return nil, err
	}
	all.named = namedBy(p)
	if err := all.files.Take(append([]string{own}, all.named...)...); err != nil {
		return nil, errors.Join(err, all.files.Close())
	}
	return all, nil
}

// namedBy are the paths of the programs that a plan names, as they are found now, sorted.
func namedBy(p *plan.Plan) []string {
	var all []string
	add := func(e environment.Environment) {
		if x, ok := e.(environment.Executor); ok {
			all = append(all, x.Programs()...)
		}
	}
	for _, l := range p.Loads {
		for _, a := range l.Arms {
			add(a.Env)
			if p.PodNode != "" {
				continue // the node has the programs of the loads
			}
			all = append(all, executedBy(a.Stages)...)
			if n := a.Neighbour; n != nil {
				all = append(all, executedBy(n.Stages)...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// executedBy are the paths of the programs and scripts of a load.
func executedBy(s workload.Stages) (all []string) {
	for _, n := range s.Needs {
		all = append(all, n.Programs()...)
	}
	for _, name := range s.Executes {
		if path, err := exec.LookPath(name); err == nil {
			all = append(all, path)
		}
	}
	for _, c := range s.Code {
		if st, err := os.Stat(c.What); err == nil && st.Mode().IsRegular() && filepath.IsAbs(c.What) {
			all = append(all, c.What)
		}
	}
	return all
}

// changed returns an error with identity.ErrReplaced if a program is another file than it was; nil has none.
func (p *Programs) changed() error {
	if p == nil {
		return nil
	}
	if _, err := identity.Own(); err != nil {
		return err
	}
	return p.files.Changed()
}

// changedOrMoved is changed, and also an error if a name is found at another path than it was.
func (p *Programs) changedOrMoved() error {
	if err := p.changed(); err != nil {
		return err
	}
	now := namedBy(p.plan)
	for i := range max(len(now), len(p.named)) {
		var is, was string
		if i < len(now) {
			is = now[i]
		}
		if i < len(p.named) {
			was = p.named[i]
		}
		if is != was {
			return hint.New(fmt.Errorf("%s %w: programs are found at other paths", cmp.Or(is, was), identity.ErrReplaced),
				"run again, and install nothing meanwhile")
		}
	}
	return nil
}

// identifyMapped takes the libraries of the servers and clients of the first launch, and writes all sums into the
// manifest. A load of other programs is the user's: it may build the programs that it executes.
func (l *loadRun) identifyMapped() error {
	r := l.run
	for _, s := range l.instances.all {
		if arms := l.instances.armsOn(s); len(arms) == 0 || len(arms[0].planned.Stages.Needs) == 0 {
			continue
		}
		for _, p := range s.processes.Running {
			if p.Pid() <= 0 {
				continue
			}
			for _, pid := range append(launch.Descendants(p.Pid()), p.Pid()) {
				if err := r.programs.files.TakeMapped(pid, "/tare-"+r.config.ID); err != nil {
					return err
				}
			}
		}
	}
	r.recordPrograms()
	return nil
}

// recordPrograms puts the sums of all programs into the manifest.
func (r *runner) recordPrograms() {
	if r.rec.manifest.Files == nil {
		r.rec.manifest.Files = map[string]string{}
	}
	maps.Copy(r.rec.manifest.Files, r.programs.files.Sums())
}

// replacedFirst returns why a program is another file now, if it is one, and err otherwise: the replaced
// program explains the error.
func (r *runner) replacedFirst(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return cmp.Or(r.programs.changed(), err)
}

// Close closes the files.
func (p *Programs) Close() error { return p.files.Close() }

// DiffersFrom returns an error that names a file whose content is not that of the same program in an earlier run;
// earlier are the sums of that run's manifest. Only the content decides: the same content at another path is the
// same program.
func (p *Programs) DiffersFrom(earlier map[string]string) error {
	sums := p.files.Sums()
	known := func(all map[string]string, sum string) bool {
		return slices.Contains(slices.Collect(maps.Values(all)), sum)
	}
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		if !known(earlier, sums[path]) {
			return fmt.Errorf("%s is not the file of the result: its SHA-256 is %s", path, sums[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(earlier)) {
		if _, ok := sums[path]; ok || known(sums, earlier[path]) {
			continue
		}
		var now identity.Files
		if err := now.Take(path); err != nil {
			return fmt.Errorf("%s was executed, and cannot be read now: %w", path, err)
		}
		sum := now.Sums()[path]
		if err := now.Close(); err != nil {
			return err
		}
		if sum != earlier[path] {
			return fmt.Errorf("%s is not the file of the result: its SHA-256 was %s and is %s", path, earlier[path], sum)
		}
	}
	return nil
}
