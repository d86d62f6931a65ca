package record

import (
	"reflect"
	"slices"
	"testing"
)

// What an experiment can choose of an arm is in Chosen, so that two arms that differ in it
// are told apart. Not in it are names, the place on the ladder, the neighbour and what
// protects from it, and the parameters of the load.
func TestChosenHasEveryKey(t *testing.T) {
	other := []string{"Name", "Title", "Step", "Twin", "Remainder", "Neighbour", "Isolation", "Pod", "Shares", "Set"}
	of := reflect.TypeFor[Arm]()
	for i := range of.NumField() {
		f := of.Field(i)
		var a Arm
		switch v := reflect.ValueOf(&a).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Float64:
			v.SetFloat(1.5)
		case reflect.Int64:
			v.SetInt(1 << 30)
		}
		if got := !slices.Equal(a.Chosen(), Arm{}.Chosen()); got == slices.Contains(other, f.Name) {
			t.Errorf("%s: in it %v", f.Name, got)
		}
	}
}
