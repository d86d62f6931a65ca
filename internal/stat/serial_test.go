package stat

import (
	"reflect"
	"testing"
)

func TestRanks(t *testing.T) {
	got := Ranks([][]float64{{3, 1, 2}, {5, 5, 1, 5}, nil})
	want := [][]float64{{3, 1, 2}, {3, 3, 1, 3}, {}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}
