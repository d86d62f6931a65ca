package record

import (
	"reflect"
	"slices"
	"testing"
)

// Chosen has every factor of an arm, so that two arms with different levels differ in it. It leaves out names,
// the place on the ladder, neighbour and isolation, the parameters of the load, comparisons, and what follows from the host.
func TestChosenHasEveryKey(t *testing.T) {
	other := []string{"Name", "Title", "Step", "Twin", "Remainder", "Against", "Neighbour", "Isolation", "Pod", "RunsAs", "Shares", "Set"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Arm]()) {
		var a Arm
		switch v := reflect.ValueOf(&a).Elem().FieldByIndex(f.Index); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Float64:
			v.SetFloat(1.5)
		case reflect.Int, reflect.Int64:
			v.SetInt(1 << 30)
		}
		if f.Anonymous {
			continue // its fields are visible too
		}
		if got := !slices.Equal(a.Chosen(), Arm{}.Chosen()); got == slices.Contains(other, f.Name) {
			t.Errorf("%s: in it %v", f.Name, got)
		}
	}
}
