package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/facts"
	"github.com/tarelab/tare/internal/probe"
	"github.com/tarelab/tare/record"
)

// keepByHand keeps what makes an arm again by hand, where there is such a thing.
func (l *loadRun) keepByHand(s *site) error {
	if n := s.neighbour; n != nil && n.opened != nil {
		if err := l.keepOne(s, n.opened); err != nil {
			return err
		}
	}
	return l.keepOne(s, s.opened)
}

func (l *loadRun) keepOne(s *site, opened environment.Arm) error {
	r, ok := opened.(environment.Reproducible)
	if !ok {
		return nil
	}
	name, text := r.Reproduction()
	dir := filepath.Join(l.Dir, record.ByHandDir)
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, l.load.Name+"-"+name), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("keep what makes arm %s by hand: %w", s.name, err)
	}
	return nil
}

// readBack keeps the settings of every arm as the kernel gives them.
func (l *loadRun) readBack() error {
	for _, s := range l.sites {
		own, err := s.opened.Settings()
		if err != nil {
			return fmt.Errorf("arm %s: a setting did not take: %w", s.name, err)
		}
		if s.place.Away == nil {
			if seen, err := probe.Facts(s.target()); err == nil {
				own = append(own, seen...)
				l.warnOfCPUs(s.name, seen)
			}
		}
		said, err := facts.Read(s.facts)
		if err != nil {
			return fmt.Errorf("arm %s: %w", s.name, err)
		}
		own = append(own, said...)
		on, err := s.describe()
		if err != nil {
			return fmt.Errorf("arm %s: %w", s.name, err)
		}
		own = append(own, on.settings...)
		own = s.client(own)
		l.warnOf(s, on)
		if err := l.keepByHand(s); err != nil {
			return err
		}
		var its []record.Setting
		if s.neighbour != nil {
			if its, err = s.neighbour.settings(); err != nil {
				return fmt.Errorf("neighbour %s: %w", s.neighbour.Name, err)
			}
		}
		for _, a := range l.armsOn(s) {
			held, err := a.held()
			if err != nil {
				return fmt.Errorf("arm %s: a setting did not take: %w", a.Name, err)
			}
			l.Manifest.Settings[l.load.Name+"/"+a.Name] = slices.Concat(own, its, held)
		}
	}
	return l.writeManifest()
}

// client adds where the client of a server runs, where the environment has not said
// so: beside the arm.
func (s *site) client(all []record.Setting) []record.Setting {
	if s.server == nil || slices.ContainsFunc(all, func(x record.Setting) bool { return x.Name == "client" }) {
		return all
	}
	return append(all, record.Setting{Name: "client", Got: "on the host, outside of the arm"})
}
