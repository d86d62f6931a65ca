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

// The words of the level volume; some have a parameter behind a colon.
const (
	emptyDirVolume = "emptydir"
	hostPathVolume = "hostpath"
	claimVolume    = "pvc"
	nfsVolume      = "nfs"
)

var volumes = []string{emptyDirVolume, hostPathVolume, claimVolume + ":CLASS", nfsVolume + ":SERVER:/PATH"}

// volume is the value of a pod's option volume.
type volume struct {
	kind string // one of the words; empty: emptydir, or the volume of the arm
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

// setVolume sets the volume of the pod's data. dir is the directory of a hostPath.
func (l Levels) setVolume(s *kube.PodSpec, spec environment.Spec, dir string) error {
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

// makeVolume makes the directory or the claim of the pod's volume.
func (a *arm) makeVolume(ctx context.Context) error {
	if err := a.kind.Levels.setVolume(&a.spec, a.Spec, filepath.Join(a.Dir, "bound")); err != nil {
		return err
	}
	if a.spec.Volume.Path != "" && a.Spec.Volume == "" {
		if err := os.Mkdir(a.spec.Volume.Path, 0o755); err != nil { // the journal has the arm's directory, which it is in
			return fmt.Errorf("make the data directory: %w", err)
		}
	}
	return createClaim(ctx, a.kind.On, a.cluster, &a.spec, a.Spec.Data)
}

// createClaim creates the claim of a pod, if it has one, for the data set in the directory set.
func createClaim(ctx context.Context, on *Target, c *kube.Cluster, s *kube.PodSpec, set string) error {
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
		s.Volume.Size = claimSize(data)
	}
	on.sharedBy(s.Run).awaitVolumes()
	return on.sharedBy(s.Run).claim(s.Arm, func() error { return c.CreateClaim(ctx, s.Claim()) }) // removed with the namespace, or by its label
}

// Class is the StorageClass of the pod's claim; empty: it has none.
func (p Pod) Class() string { return p.Levels.volume.Class }

// claimSize is the size of a claim for a data set of that size, both in bytes: twice as much and
// up to 1 GiB more, because data sets grow during a run.
func claimSize(data int64) int64 {
	const gib = 1 << 30
	return (2*data/gib + 1) * gib
}

// outlives says whether the volume may exist longer than the pod.
func outlives(v kube.Volume) bool { return v.Class != "" || v.Server != "" }

// dataDir is the data directory in the volume of a pod. In a volume that outlives the pod its
// name has run and arm.
func dataDir(s kube.PodSpec) string {
	if outlives(s.Volume) {
		return journal.Prefix + s.Run + "-" + s.Arm
	}
	return "data"
}

// findVolume finds the pod's volume on this host and writes to the journal how its data is
// removed.
func (a *arm) findVolume(ctx context.Context, pid int) (err error) {
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
	if strings.HasPrefix(dir, "/proc/") { // this path is valid only while the pod runs
		a.Undo(clear)
		return nil
	}
	return a.Record(steps.Directory{Path: dir}, clear)
}

// closeBound is how long a killed load may take to end.
const closeBound = 10 * time.Second

// Close ends all processes and takes back all changes. Data on a volume that outlives the pod is
// removed first, while the pod has the volume.
func (a *arm) Close() error {
	if !outlives(a.spec.Volume) || a.hostVolume == "" {
		return a.Sandbox.Close()
	}
	var errs []error
	if p := a.inside.Running(); p != nil {
		errs = append(errs, p.Kill())
		select {
		case <-p.Done():
		case <-time.After(closeBound): // Sandbox.Close reports it
		}
	}
	errs = append(errs, steps.RemoveDirectory(a.Place().HostVolume), a.Sandbox.Close())
	return errors.Join(errs...)
}

// volumeSettings describe the pod's volume as the cluster does; given is the volume of a claim,
// or nil. Its file system and device are read back as in any arm.
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
		if asked := v.Spec.MountOptions; len(asked) > 0 { // the setting volume.options has what the kernel made of them
			all = append(all, record.Setting{Name: "pod.volume.asked", Got: strings.Join(asked, ",")})
		}
		all = append(all,
			record.Setting{Name: "pod.volume.capacity", Got: v.Spec.Capacity.Storage().String()},
			record.Setting{Name: "pod.volume.reclaim", Got: string(v.Spec.PersistentVolumeReclaimPolicy)})
	}
	return all
}

// awaitVolumes makes the last arm wait until the volumes of claims are gone.
func (s *shared) awaitVolumes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims = true
}
