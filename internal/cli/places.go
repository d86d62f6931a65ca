package cli

import (
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/planning/experiment"
)

// volumesOutsideData returns an error if the directory of any volume is in the data directory of a server. An
// arm on another directory that cannot be used is skipped.
func volumesOutsideData(e *experiment.Experiment) error {
	for _, word := range e.Volumes() {
		if v, err := volume.Parse(word); err == nil && v.Directory() != "" {
			if err := outsideData("volume "+word+":", v.Directory()); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkWays returns an error if two volumes are two ways to one server of which the kernel uses one.
func checkWays(e *experiment.Experiment, words []string) error {
	var all []volume.Volume
	for _, word := range append(e.Volumes(), words...) {
		if v, err := volume.Parse(word); err == nil {
			all = append(all, v)
		}
	}
	if err := volume.Apart("/", all); err != nil {
		return &usageError{err, ""}
	}
	return nil
}
