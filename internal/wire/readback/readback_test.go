package readback

import (
	"os"
	"slices"
	"testing"

	"github.com/tarelab/tare/record"
)

func TestFacts(t *testing.T) {
	f, err := Create()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := Read(f); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	want := []record.Setting{{Name: "a", Wanted: "1", Got: "1"}, {Name: "b", Got: "x\ny"}, {Name: "c"}}
	if err := Write(int(f.Fd()), want[:2]); err != nil {
		t.Fatal(err)
	}
	if err := Write(int(f.Fd()), want[2:]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := Read(f); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v", got, err)
		}
	}
	f.WriteString("{")
	if _, err := Read(f); err == nil {
		t.Error("half a fact is none")
	}
}

// A descriptor that is anything else is left alone.
func TestNobodyWantsThem(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, fd := range []int{int(f.Fd()), 999, -1} {
		if err := Write(fd, []record.Setting{{Name: "a"}}); err != nil {
			t.Error(err)
		}
	}
	if st, err := f.Stat(); err != nil || st.Size() != 0 {
		t.Errorf("%v, %v", st.Size(), err)
	}
}
