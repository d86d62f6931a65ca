package environment

import (
	"slices"
	"testing"
)

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		text    string
		options []string
		is, not string // labels of processes
	}{
		{"spc_t", []string{"type:spc_t"}, "system_u:system_r:spc_t:s0:c1,c2", "system_u:system_r:container_t:s0:c1,c2"},
		{"system_u:system_r:spc_t:s0", []string{"user:system_u", "role:system_r", "type:spc_t", "level:s0"},
			"system_u:system_r:spc_t:s0", "system_u:system_r:spc_t:s0:c1,c2"},
		{"u:r:container_t:s0:c1,c2", []string{"user:u", "role:r", "type:container_t", "level:s0:c1,c2"},
			"u:r:container_t:s0:c1,c2", "u:r:container_t:s0:c1,c3"},
		{"u:r:t", []string{"user:u", "role:r", "type:t"}, "u:r:t", "u:x:t"},
	} {
		l, err := ParseLabel(c.text)
		if err != nil || l.String() != c.text || !slices.Equal(l.Options(), c.options) {
			t.Errorf("%s: %v %v %v", c.text, l, l.Options(), err)
		}
		is, _ := ParseLabel(c.is)
		if not, _ := ParseLabel(c.not); !l.Is(is) || l.Is(not) {
			t.Errorf("%s is %s and is not %s", c.text, c.is, c.not)
		}
	}
	for _, text := range []string{"a:b", "a::b", "spc t", "a:b:", "label=type", ":"} {
		if l, err := ParseLabel(text); err == nil {
			t.Errorf("%q is %v", text, l)
		}
	}
}

func TestConfinable(t *testing.T) {
	host := Host{Features: map[string]Support{FeatureAppArmor: Supported(), FeatureSELinux: Unsupported("none here", "boot another")}}
	for _, c := range []struct {
		Container
		want Answer
	}{
		{Container{}, Yes},
		{Container{AppArmor: "mine"}, Yes},
		{Container{SELinux: "spc_t"}, No},
		{Container{AppArmor: "mine", SELinux: Default}, Yes},
	} {
		if got := c.Confinable(host); got.Answer != c.want {
			t.Errorf("%+v: %+v", c.Container, got)
		}
	}
	if got := (Container{AppArmor: Default}).Confinable(Host{}); got.Answer != Yes {
		t.Errorf("the default asks for nothing: %+v", got)
	}
}

func TestSecurityOptions(t *testing.T) {
	for _, c := range []struct {
		c    Container
		want []string
	}{
		{Container{}, nil},
		{Container{Seccomp: Default, AppArmor: Default, SELinux: Default}, nil},
		{Container{Seccomp: Unconfined}, []string{"seccomp=unconfined"}},
		{Container{AppArmor: Unconfined}, []string{"apparmor=unconfined"}},
		{Container{Seccomp: Unconfined, AppArmor: "mine"}, []string{"seccomp=unconfined", "apparmor=mine"}},
		{Container{SELinux: "u:r:spc_t:s0"}, []string{"label=user:u", "label=role:r", "label=type:spc_t", "label=level:s0"}},
	} {
		if got := c.c.SecurityOptions(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c.c, got)
		}
	}
}
