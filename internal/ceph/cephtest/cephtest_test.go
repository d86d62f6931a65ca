package cephtest

import (
	"testing"

	"github.com/tarelab/tare/internal/testneed"
)

// TestRBDStoreKilled: what the store has acknowledged is there after it was killed.
func TestRBDStoreKilled(t *testing.T) {
	testneed.Long(t, "rbd")
	c := Start(t)
	c.Run("rados", "-p", Pool, "put", "kept", c.Config)
	c.KillStore()
	c.StartStore()
	if got := c.Run("rados", "-p", Pool, "get", "kept", "-"); len(got) == 0 {
		t.Error("the object is empty")
	}
}
