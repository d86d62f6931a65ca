package catalog

import (
	"github.com/tarelab/tare/internal/ceph"
	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/environment/oci"
	"github.com/tarelab/tare/internal/isolation/enforce"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/journal/steps"
	"github.com/tarelab/tare/internal/kube"
	"github.com/tarelab/tare/internal/volume"
)

// Steps are the kinds of steps that journals hold, also those that only older versions wrote:
// whoever reads or undoes a journal hands it this list. A kind that is missing here is written
// and never undone.
func Steps() journal.Kinds {
	return steps.Kinds(
		journal.KindOf[oci.ContainerStep](),
		journal.KindOf[engine.ContainerStep](),
		journal.KindOf[kube.NamespaceStep](),
		journal.KindOf[kube.PodsStep](),
		journal.KindOf[kube.ImageStep](),
		journal.KindOf[ceph.ImageStep](),
		journal.KindOf[ceph.MappingStep](),
		journal.KindOf[volume.NFSStep](),
		journal.KindOf[volume.CephFSStep](),
		journal.KindOf[enforce.ClassStep](),
	)
}
