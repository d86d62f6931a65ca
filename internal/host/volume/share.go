package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/netmount"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// NFSStep removes a directory from what an NFS server exports and unmounts the export. Where it
// is not mounted any more it is mounted once more.
type NFSStep struct{ shareStep }

// CephFSStep is the same for a file system of Ceph. Its source is :/PATH.
type CephFSStep struct{ shareStep }

// shareStep are the fields of either.
type shareStep struct {
	Point   string `json:"path,omitempty"` // where it is mounted
	Options string `json:"value,omitempty"`
	Source  string `json:"root,omitempty"` // SERVER:/PATH
	Name    string `json:"id,omitempty"`   // of the directory; begins with tare-RUN-
}

// Kind is the word for it in a journal.
func (NFSStep) Kind() string { return "nfs" }

// Kind is the word for it in a journal.
func (CephFSStep) Kind() string { return "cephfs" }

// String names the directory.
func (s NFSStep) String() string { return s.Kind() + " " + s.Name }

// String names the directory.
func (s CephFSStep) String() string { return s.Kind() + " " + s.Name }

// Lasts is true: a server keeps its directories.
func (shareStep) Lasts() bool { return true }

// Check refuses directories that are not the run's.
func (s shareStep) Check(run string) error {
	return journal.Own(journal.InRun(s.Point, run) && journal.PartOf(s.Name, run) && s.Source != "", s.Point+s.Name)
}

// Undo removes the directory.
func (s NFSStep) Undo(*journal.Undoing) error { return s.remove(netmount.NFS()) }

// Undo removes the directory.
func (s CephFSStep) Undo(*journal.Undoing) error { return s.remove(netmount.CephFS()) }

// removing bounds how long removing a directory on a server takes.
const removing = 2 * time.Minute

func (s shareStep) remove(kind netmount.Kind) error {
	point := s.Point
	m, err := netmount.On(point)
	if err != nil {
		return err
	}
	if m == nil {
		point = s.again()
		err = s.remount(kind, point)
		defer os.Remove(point)
	}
	if err == nil {
		err = netmount.Answers(point)
	}
	if err == nil {
		err = netmount.Within(point, removing, func() error { return steps.RemoveDirectory(filepath.Join(point, s.Name)) })
	}
	if err != nil {
		err = hint.New(fmt.Errorf("remove %s from %s: %w", s.Name, s.Source, err), "tare cleanup removes it when the server is back")
	}
	return errors.Join(err, netmount.Unmount(point, errors.Is(err, netmount.ErrSilent)))
}

// again is where a share that is not mounted any more is mounted to be taken back. A cleanup
// that was killed leaves the mount there, and the next one finds it.
func (s shareStep) again() string { return filepath.Join("/run/tare", "share-"+s.Name) }

func (s shareStep) remount(kind netmount.Kind, point string) error {
	if m, err := netmount.On(point); err != nil || m != nil {
		return err
	}
	if err := os.MkdirAll(point, 0o700); err != nil {
		return err
	}
	return kind.Mount(context.Background(), s.Source, point, s.Options)
}
