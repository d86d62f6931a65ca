package catalog

import (
	"github.com/tarelab/tare/internal/arms/oci"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/outside/ceph"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// Steps lists the kinds of steps that a journal may have. Reading and undoing a journal need this list: a step
// whose kind is missing here would be written and never undone.
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
	)
}
