package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What is kept of a load is there for the next plan, also when the data sets were removed, and is no data set. A file that
// another user could have written, or that is damaged, is an error.
func TestKeep(t *testing.T) {
	store := Store{filepath.Join(t.TempDir(), "data")}
	a, b := About{Kind: "sysbench", Params: map[string]string{"data": "x"}}, About{Kind: "sysbench", Params: map[string]string{"data": "y"}}
	var got []int
	if err := store.Kept(a, &got); err != nil || got != nil {
		t.Errorf("nothing was kept: %v, %v", got, err)
	}
	for _, kept := range [][]int{{1}, {1, 2}} {
		if err := store.Keep(a, kept); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Prune(func(Entry) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if err := store.Kept(a, &got); err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	var other []int
	if err := store.Kept(b, &other); err != nil || other != nil {
		t.Errorf("of other data: %v, %v", other, err)
	}
	if all, err := store.List(); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	path := filepath.Join(store.Dir, keptName(a))
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := store.Kept(a, &got); err == nil {
		t.Error("others can write it")
	}
	if err := os.WriteFile(path, []byte("[1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Kept(a, &got); err == nil {
		t.Error("damaged")
	}
}

func TestHas(t *testing.T) {
	store := Store{t.TempDir()}
	if store.Has("k") {
		t.Error("an empty store")
	}
	if err := os.Mkdir(filepath.Join(store.Dir, "k"), 0o700); err != nil {
		t.Fatal(err)
	}
	if store.Has("k") {
		t.Error("without a marker")
	}
	if err := os.WriteFile(filepath.Join(store.Dir, "k", MarkerFile), nil, 0o600); err != nil || !store.Has("k") {
		t.Error("with a marker", err)
	}
}
