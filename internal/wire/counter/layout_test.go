package counter

import (
	"reflect"
	"strings"
	"testing"
)

// Every word of the layout is where the compiler put the field of that name.
func TestLayoutNamesTheFields(t *testing.T) {
	m := create(t, 3)
	l := reflect.ValueOf(m.Layout())
	fields := map[string]reflect.StructField{}
	for _, typ := range []reflect.Type{reflect.TypeFor[header](), reflect.TypeFor[Slot]()} {
		for f := range typ.Fields() {
			fields[f.Name] = f
		}
	}
	sizes := map[string]int{"Bytes": len(m.data), "Slots": 3, "FirstSlot": pageBytes, "SlotBytes": slotBytes}
	for f := range l.Type().Fields() {
		got := int(l.FieldByName(f.Name).Int())
		if want, ok := sizes[f.Name]; ok {
			if got != want {
				t.Errorf("%s is %d, want %d", f.Name, got, want)
			}
			continue
		}
		word, ok := fields[strings.ToLower(f.Name)]
		if !ok || got != int(word.Offset) {
			t.Errorf("%s is %d, the field (%v) is at %d", f.Name, got, ok, word.Offset)
		}
		bytes := 8
		if f.Name == "Gate" {
			bytes = 4
		}
		if f.Name != "Buckets" && int(word.Type.Size()) != bytes {
			t.Errorf("%s has %d bytes, want %d", f.Name, word.Type.Size(), bytes)
		}
	}
}
