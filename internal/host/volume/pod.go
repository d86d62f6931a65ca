package volume

import (
	"fmt"
	"regexp"
)

// Volumes that only a pod has. The kubelet or the cluster makes them, so Open has nothing to do.
const (
	EmptyDir = "emptydir" // on the file system of the kubelet's directory
	HostPath = "hostpath" // a directory of the node, which tare makes
	Claim    = "pvc"      // of a PersistentVolumeClaim; path is the name of its StorageClass
)

// className is the form of the name of a StorageClass: a DNS subdomain.
var className = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// OfPod says that only a pod can have the volume.
func (v Volume) OfPod() bool {
	return v.kind == EmptyDir || v.kind == HostPath || v.kind == Claim
}

// IsOfPod is OfPod of a word; false for words that are wrong.
func IsOfPod(word string) bool {
	v, err := Parse(word)
	return err == nil && v.OfPod()
}

func parseClaim(word, class string) (Volume, error) {
	if !className.MatchString(class) {
		return Volume{}, fmt.Errorf("volume %q: want %s:CLASS, where kubectl get storageclass lists CLASS", word, Claim)
	}
	return Volume{kind: Claim, path: class}, nil
}
