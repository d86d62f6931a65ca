package ceph

import (
	"testing"

	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/undo/journal"
)

func TestCheckSteps(t *testing.T) {
	own := Image{Pool{"/etc/ceph/ceph.conf", "rbd"}, "x-tare-r-host"}
	others := []Image{
		{Pool{"/c", "rbd"}, "mine"}, {Pool{"/c", "a-tare-r-b"}, "mine"}, {Pool{"/c", "rbd"}, "x-tare-r2-a"}, {Pool{"/c", "rbd"}, "x/x-tare-r-a"},
		{Pool{"/c", "x-tare-r-a"}, ""}, {Pool{"", "rbd"}, "x-tare-r-a"}, {Pool{"c", "rbd"}, "x-tare-r-a"},
	}
	refused := []journal.Step{ImageStep{stepOf{"/c", "x-tare-r-a"}}, MappingStep{stepOf{"/c", "x-tare-r-a"}}}
	for _, i := range others {
		refused = append(refused, i.Step(), i.MappingStep())
	}
	journaltest.Checks(t, []journal.Step{own.Step(), own.MappingStep()}, refused)
	if got := own.Step().image(); got != own {
		t.Errorf("the step removes %+v", got)
	}
}
