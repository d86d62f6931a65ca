package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/record"
)

// The words for what the data is on; some have more behind a colon.
const (
	emptyDirVolume = "emptydir"
	hostPathVolume = "hostpath"
	claimVolume    = "pvc"
	nfsVolume      = "nfs"
)

var volumes = []string{emptyDirVolume, hostPathVolume, claimVolume + ":CLASS", nfsVolume + ":SERVER:/PATH"}

// volume is the level of that name.
type volume struct {
	kind string // one of the words; empty: emptydir, unless the arm has a volume
	kube.Volume
}

func parseVolume(word string) (volume, error) {
	kind, rest, _ := strings.Cut(word, ":")
	v := volume{kind: kind}
	ok := rest == "" && word == kind
	switch kind {
	case emptyDirVolume, hostPathVolume:
	case claimVolume:
		v.Class, ok = rest, rest != ""
	case nfsVolume:
		i := strings.LastIndex(rest, ":/")
		if ok = i > 0; ok {
			v.Server, v.NFS = rest[:i], rest[i+1:]
		}
	default:
		ok = false
	}
	if !ok {
		return v, fmt.Errorf("volume %q: want one of %s%s", word, strings.Join(volumes, ", "), hint.DidYouMean(word, volumes))
	}
	return v, nil
}

// place says what the data of a pod is on. Of a hostPath it is not known yet
// which one: dir stands for it.
func (l Levels) place(s *kube.PodSpec, spec environment.Spec, dir string) error {
	given := spec.Bind || spec.Volume != ""
	if given && l.volume.kind != "" && l.volume.kind != hostPathVolume {
		return hint.New(fmt.Errorf("the data cannot be on %s and on the volume of the arm", l.volume.kind), "leave one of the two out: the level volume, or the arm's volume and --volume")
	}
	s.Volume = l.volume.Volume
	switch {
	case spec.Volume != "":
		s.Volume.Path = spec.Volume
	case given, l.volume.kind == hostPathVolume:
		s.Volume.Path = dir
	case s.Volume.Class != "":
		s.Volume.Size = l.size.n
	}
	return nil
}

// provide makes what the volume of the pod is on.
func (a *arm) provide(ctx context.Context) error {
	if err := a.kind.Levels.place(&a.spec, a.Spec, filepath.Join(a.Dir, "bound")); err != nil {
		return err
	}
	if a.spec.Volume.Path != "" && a.Spec.Volume == "" {
		if err := os.Mkdir(a.spec.Volume.Path, 0o755); err != nil { // in the arm's directory, which is in the journal
			return fmt.Errorf("make the data directory: %w", err)
		}
	}
	return claim(ctx, a.kind.On, a.cluster, &a.spec, a.Spec.Data)
}

// claim makes the claim of a pod, where it has one, for a data set.
func claim(ctx context.Context, on *Target, c *kube.Cluster, s *kube.PodSpec, set string) error {
	if s.Volume.Class == "" {
		return nil
	}
	if s.Volume.Size == 0 {
		data := int64(0)
		if set != "" {
			var err error
			if data, err = clonetree.Size(set); err != nil {
				return fmt.Errorf("find the size of the data set: %w", err)
			}
		}
		s.Volume.Size = enough(data)
	}
	on.session(s.Run).claim()
	return c.CreateClaim(ctx, s.Claim()) // it goes with the namespace, or by its label
}

// Class is the StorageClass of the pod's claim; empty: it has none.
func (p Pod) Class() string { return p.Levels.volume.Class }

// enough is what is asked for where nobody said how much: for a data set that
// grows while it is worked on, in whole GiB.
func enough(data int64) int64 {
	const gib = 1 << 30
	return (2*data/gib + 1) * gib
}

// outlives says whether the volume may be there after the pod.
func outlives(v kube.Volume) bool { return v.Class != "" || v.Server != "" }

// dataDir is the directory with the data in the volume of a pod. One that may be
// there after the pod tells whose it is.
func dataDir(s kube.PodSpec) string {
	if outlives(s.Volume) {
		return journal.Prefix + s.Run + "-" + s.Arm
	}
	return "data"
}

// attach finds the volume that the cluster has given the pod, and takes care that
// no data is left on it.
func (a *arm) attach(ctx context.Context, pid int) (err error) {
	if a.hostVolume, err = onHost(pid, kube.VolumeDir); err != nil {
		return err
	}
	if a.spec.Volume.Class != "" {
		if a.persistent, err = a.cluster.Bound(ctx, a.spec.Claim()); err != nil {
			return err
		}
	}
	if !outlives(a.spec.Volume) {
		return nil
	}
	dir := a.Place().HostVolume
	clear := func() error { return steps.RemoveDirectory(dir) }
	if strings.HasPrefix(dir, "/proc/") { // a path that ends with the pod is no way back
		a.Undo(clear)
		return nil
	}
	return a.Record(steps.Directory{Path: dir}, clear)
}

// closeBound is how long a killed load may take to end.
const closeBound = 10 * time.Second

// Close ends everything and takes every change back. What is on a volume that
// may outlive the pod goes while the pod still has it.
func (a *arm) Close() error {
	if !outlives(a.spec.Volume) || a.hostVolume == "" {
		return a.Sandbox.Close()
	}
	a.mu.Lock()
	inside := a.inside
	a.mu.Unlock()
	var errs []error
	if !environment.Ended(inside) {
		errs = append(errs, inside.Kill())
		select {
		case <-inside.Done():
		case <-time.After(closeBound): // the Sandbox's Close says so
		}
	}
	errs = append(errs, steps.RemoveDirectory(a.Place().HostVolume), a.Sandbox.Close())
	return errors.Join(errs...)
}

// volumeSettings say what the data is on, as far as the cluster knows. What is
// under it is looked at like that of any arm.
func volumeSettings(v kube.Volume, given *corev1.PersistentVolume) []record.Setting {
	word := emptyDirVolume
	switch {
	case v.Path != "":
		word = hostPathVolume
	case v.Class != "":
		word = claimVolume + ":" + v.Class
	case v.Server != "":
		word = nfsVolume + ":" + v.Server + ":" + v.NFS
	}
	all := []record.Setting{{Name: "pod.volume", Got: word}}
	if v := given; v != nil {
		all = append(all,
			record.Setting{Name: "pod.volume.persistent", Got: v.Name + ", " + kube.KindOf(v)})
		if from := kube.SourceOf(v); from != "" {
			all = append(all, record.Setting{Name: "pod.volume.source", Got: from})
		}
		if asked := v.Spec.MountOptions; len(asked) > 0 { // what the kernel gave is in volume.options
			all = append(all, record.Setting{Name: "pod.volume.asked", Got: strings.Join(asked, ",")})
		}
		all = append(all,
			record.Setting{Name: "pod.volume.capacity", Got: v.Spec.Capacity.Storage().String()},
			record.Setting{Name: "pod.volume.reclaim", Got: string(v.Spec.PersistentVolumeReclaimPolicy)})
	}
	return all
}

// claim has the last arm wait for the end of the claims' volumes.
func (s *session) claim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims = true
}
