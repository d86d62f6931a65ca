package engine

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
		{Container{Unconfined: true}, []string{unconfined}},
		{Container{AppArmor: "unconfined"}, []string{"apparmor=unconfined"}},
		{Container{Unconfined: true, AppArmor: "mine"}, []string{unconfined, "apparmor=mine"}},
		{Container{Label: []string{"type:spc_t", "level:s0"}}, []string{"label=type:spc_t", "label=level:s0"}},
	} {
		if got := c.c.securityOptions(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c.c, got)
		}
	}
}
