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

// readBack puts the settings of every arm, as the kernel gives them, into the manifest. It leaves
// out an arm that has ended meanwhile.
func (l *loadRun) readBack(ctx context.Context, line *record.Generation) error {
	for _, s := range slices.Clone(l.instances.all) {
		if err := l.readBackInstance(s); err != nil {
			if err := l.instanceFailedIfDead(ctx, s, err, line); err != nil {
				return err
			}
		}
	}
	return l.run.rec.writeManifest()
}

func (l *loadRun) readBackInstance(s *instance) error {
	own, err := l.instanceSettings(s)
	if err != nil {
		return err
	}
	if err := l.writeReproductions(s); err != nil {
		return err
	}
	if s.neighbour != nil {
		of, err := s.neighbour.settings()
		if err != nil {
			return fmt.Errorf("neighbour %s: %w", s.neighbour.planned.Name, err)
		}
		own = append(own, of...)
	}
	for _, a := range l.instances.armsOn(s) {
		isolation, err := a.isolationSettings()
		if err != nil {
			return fmt.Errorf("arm %s: a setting did not take: %w", a.planned.Name, err)
		}
		l.run.rec.manifest.Settings[l.settingsKey(a)] = slices.Concat(own, isolation)
	}
	return nil
}

// instanceSettings reads back what the arms on an instance have in common.
func (l *loadRun) instanceSettings(s *instance) ([]record.Setting, error) {
	own, err := s.opened.Settings()
	if err != nil {
		return nil, fmt.Errorf("arm %s: a setting did not take: %w", s.name, err)
	}
	if facts, err := s.session.Facts(); err == nil {
		own = append(own, without(facts, own)...)
		l.warnOfCPUs(s.name, facts)
	}
	ofLoad, err := readback.Read(s.facts)
	if err != nil {
		return nil, fmt.Errorf("arm %s: %w", s.name, err)
	}
	own = append(own, ofLoad...)
	on, err := s.session.Data()
	if err != nil {
		return nil, fmt.Errorf("arm %s: %w", s.name, err)
	}
	l.warnOfVolume(s, on)
	return s.withClient(slices.Concat(own, s.volume.Settings(), on.Settings)), nil
}

// withClient adds where the client of a server runs, unless the environment says so: beside the
// arm.
func (s *instance) withClient(all []record.Setting) []record.Setting {
	if s.server == nil || slices.ContainsFunc(all, func(x record.Setting) bool { return x.Name == "client" }) {
		return all
	}
	return append(all, record.Setting{Name: "client", Got: clientOnHost})
}

// without returns the facts whose names no setting has.
func without(facts, settings []record.Setting) []record.Setting {
	return slices.DeleteFunc(slices.Clone(facts), func(f record.Setting) bool {
		return slices.ContainsFunc(settings, func(s record.Setting) bool { return s.Name == f.Name })
	})
}

// writeReproductions writes the files that make an arm and its neighbour again by hand, where the
// environment has such a file.
func (l *loadRun) writeReproductions(s *instance) error {
	opened := []environment.OpenArm{s.opened}
	if n := s.neighbour; n != nil && n.opened != nil {
		opened = append(opened, n.opened)
	}
	for _, o := range opened {
		name, text := o.Reproduction()
		if name == "" {
			continue
		}
		dir := filepath.Join(l.run.config.Dir, record.ByHandDir)
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, l.load.Name+"-"+name), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("keep what makes arm %s by hand: %w", s.name, err)
		}
	}
	return nil
}
