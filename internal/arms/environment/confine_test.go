package environment

import (
	"slices"
	"testing"
)

func TestSecurityOptions(t *testing.T) {
	for _, c := range []struct {
		c    Container
		want []string
	}{
		{Container{}, nil},
		{Container{Seccomp: Default, AppArmor: Default}, nil},
		{Container{Seccomp: Unconfined}, []string{"seccomp=unconfined"}},
		{Container{AppArmor: Unconfined}, []string{"apparmor=unconfined"}},
		{Container{Seccomp: Unconfined, AppArmor: "mine"}, []string{"seccomp=unconfined", "apparmor=mine"}},
	} {
		if got := c.c.SecurityOptions(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c.c, got)
		}
	}
}
