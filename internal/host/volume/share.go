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

// NFSStep removes the arm's directory on an export of an NFS server and unmounts the export. If
// it is not mounted any longer, Undo mounts it again first.
type NFSStep struct{ shareStep }

// CephFSStep is NFSStep for a Ceph file system. Its source is :/PATH.
type CephFSStep struct{ shareStep }

// shareStep are the fields of NFSStep and CephFSStep.
type shareStep struct {
	Point   string `json:"path,omitempty"` // mount point
	Options string `json:"value,omitempty"`
	Source  string `json:"root,omitempty"` // SERVER:/PATH
	Name    string `json:"id,omitempty"`   // of the directory on the server; begins with tare-RUN-
}

// Kind is the word for it in a journal.
func (NFSStep) Kind() string { return "nfs" }

// Kind is the word for it in a journal.
func (CephFSStep) Kind() string { return "cephfs" }

// String names the directory.
func (s NFSStep) String() string { return s.Kind() + " " + s.Name }

// String names the directory.
func (s CephFSStep) String() string { return s.Kind() + " " + s.Name }

// Lasts is true: a restart of this host does not remove directories on a server.
func (shareStep) Lasts() bool { return true }

// Check refuses a directory that is not the run's.
func (s shareStep) Check(run string) error {
	return journal.Own(journal.InRun(s.Point, run) && journal.PartOf(s.Name, run) && s.Source != "", s.Point+s.Name)
}

// Undo removes the directory.
func (s NFSStep) Undo(*journal.Undoing) error { return s.remove(netmount.NFS()) }

// Undo removes the directory.
func (s CephFSStep) Undo(*journal.Undoing) error { return s.remove(netmount.CephFS()) }

// removing is how long the removal of a directory on a server may take.
const removing = 2 * time.Minute

func (s shareStep) remove(kind netmount.Kind) error {
	point := s.Point
	m, err := netmount.On(point)
	if err != nil {
		return err
	}
	if m == nil {
		point = s.remountPoint()
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

// remountPoint is the mount point at which Undo mounts a share that is not mounted. A cleanup that was
// killed leaves the mount there, and the next cleanup finds it.
func (s shareStep) remountPoint() string { return filepath.Join("/run/tare", "share-"+s.Name) }

func (s shareStep) remount(kind netmount.Kind, point string) error {
	if m, err := netmount.On(point); err != nil || m != nil {
		return err
	}
	if err := os.MkdirAll(point, 0o700); err != nil {
		return err
	}
	return kind.Mount(context.Background(), s.Source, point, s.Options)
}
