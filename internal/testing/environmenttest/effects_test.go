package environmenttest_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// TestEffects proves each setting of an arm by what it does, in an arm with control groups and in a container.
func TestEffects(t *testing.T) {
	testneed.Root(t)
	host := inspect.HostAt("/", t.TempDir())
	for _, env := range environments() {
		if name := env.Name(); name == "cgroup" || name == "runc" || name == "crun" && testneed.Tier(environmenttest.Whole) {
			t.Run(name, func(t *testing.T) { environmenttest.ProveEffects(t, env, host) })
		}
	}
}

// TestEverySettingHasAnEffect compares the effects with the keys of an arm in an experiment.
func TestEverySettingHasAnEffect(t *testing.T) {
	var all experiment.ArmSpec
	v := reflect.ValueOf(&all.Options).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int, reflect.Int64:
			f.SetInt(1 << 20)
		case reflect.Float64:
			f.SetFloat(1)
		}
	}
	var want, got []string
	for _, s := range all.Settings() {
		want = append(want, s.Name)
	}
	for _, e := range environmenttest.Effects() {
		got = append(got, e.Key)
		if (e.Try == nil) == (e.Elsewhere == "") {
			t.Errorf("%s: want a case here, or the name of the test elsewhere", e.Key)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("effects of %v, settings %v", got, want)
	}
}
