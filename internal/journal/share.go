package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/netmount"
)

// The kinds of shares.
const (
	kindShare = "nfs"
	kindCeph  = "cephfs"
)

// removing bounds how long removing a directory on a server takes.
const removing = 2 * time.Minute

// Share removes a directory from what an NFS server exports, which is mounted at point,
// and unmounts that; where it is not mounted any more it is mounted for it once more.
// The name of the directory begins with tare-<run>-.
func Share(source, options, point, name string) Step {
	return Step{Kind: kindShare, Path: point, Root: source, Value: options, ID: name}
}

// CephDirectory is the same of a file system of Ceph: source is :/PATH.
func CephDirectory(source, options, point, name string) Step {
	s := Share(source, options, point, name)
	s.Kind = kindCeph
	return s
}

func (s Step) shared() netmount.Kind {
	if s.Kind == kindCeph {
		return netmount.CephFS()
	}
	return netmount.NFS()
}

// again is where what is not mounted any more is mounted to be taken back. A cleanup that
// was killed left it there, and the next one finds it.
func (s Step) again() string { return filepath.Join("/run/tare", "share-"+s.ID) }

// Unshare takes a Share back.
func Unshare(s Step) error {
	point := s.Path
	m, err := netmount.On(point)
	if err != nil {
		return err
	}
	if m == nil {
		point = s.again()
		err = remount(s, point)
		defer os.Remove(point)
	}
	if err == nil {
		err = netmount.Answers(point)
	}
	if err == nil {
		err = netmount.Within(point, removing, func() error { return RemoveDirectory(filepath.Join(point, s.ID)) })
	}
	if err != nil {
		err = hint.New(fmt.Errorf("remove %s from %s: %w", s.ID, s.Root, err), "tare cleanup removes it when the server is back")
	}
	return errors.Join(err, netmount.Unmount(point, errors.Is(err, netmount.ErrSilent)))
}

func remount(s Step, point string) error {
	if m, err := netmount.On(point); err != nil || m != nil {
		return err
	}
	if err := os.MkdirAll(point, 0o700); err != nil {
		return err
	}
	return s.shared().Mount(context.Background(), s.Root, point, s.Value)
}
