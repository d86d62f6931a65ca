package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/wire/readback"
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
	name, text := opened.Reproduction()
	if name == "" {
		return nil
	}
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

// readBack keeps the settings of every arm as the kernel gives them. An arm that has
// ended meanwhile is left out.
func (l *loadRun) readBack(ctx context.Context, line *record.Generation) error {
	for _, s := range slices.Clone(l.sites) {
		if err := l.readBackOne(s); err != nil {
			if err := l.leaveDead(ctx, s, err, line); err != nil {
				return err
			}
		}
	}
	return l.writeManifest()
}

func (l *loadRun) readBackOne(s *site) error {
	own, err := s.opened.Settings()
	if err != nil {
		return fmt.Errorf("arm %s: a setting did not take: %w", s.name, err)
	}
	if seen, err := s.session.Facts(); err == nil {
		own = append(own, without(seen, own)...)
		l.warnOfCPUs(s.name, seen)
	}
	said, err := readback.Read(s.facts)
	if err != nil {
		return fmt.Errorf("arm %s: %w", s.name, err)
	}
	own = append(own, said...)
	on, err := s.session.Data()
	if err != nil {
		return fmt.Errorf("arm %s: %w", s.name, err)
	}
	own = slices.Concat(own, s.volume.Settings(), on.Settings)
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
	return nil
}

// client adds where the client of a server runs, where the environment has not said
// so: beside the arm.
func (s *site) client(all []record.Setting) []record.Setting {
	if s.server == nil || slices.ContainsFunc(all, func(x record.Setting) bool { return x.Name == "client" }) {
		return all
	}
	return append(all, record.Setting{Name: "client", Got: "on the host, outside of the arm"})
}

// without are the facts whose names no setting has: what was read back stands once.
func without(facts, settings []record.Setting) []record.Setting {
	return slices.DeleteFunc(slices.Clone(facts), func(f record.Setting) bool {
		return slices.ContainsFunc(settings, func(s record.Setting) bool { return s.Name == f.Name })
	})
}
