package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A small file with very many values is refused before it is decoded.
func TestFilesWithinBounds(t *testing.T) {
	for file, read := range map[string]func(dir string) error{
		PlanFile:     func(dir string) error { _, err := Scan(dir); return err },
		ManifestFile: func(dir string) error { _, err := Read(dir); return err },
		NodesFile:    func(dir string) error { _, err := ReadNodes(dir); return err },
		EffectsFile:  func(dir string) error { _, err := ReadEffects(dir); return err },
		"alone":      func(dir string) error { _, err := ReadManifest(dir); return err },
	} {
		for what, text := range map[string]string{
			"objects": `{"workloads":[` + strings.Repeat("{},", mostObjects) + `{}]}`,
			"values":  `{"command":[` + strings.Repeat("1,", mostValues) + `1]}`,
		} {
			dir, _ := write(t, runLine())
			name := file
			if file == "alone" {
				name = ManifestFile
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := read(dir); !errors.Is(err, ErrBounds) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s with too many %s: %.200v", file, what, err)
			}
		}
	}
}

func TestNodesWithinBounds(t *testing.T) {
	nodes := func(n int) (all []NodeResult) {
		for i := range n {
			all = append(all, NodeResult{Name: fmt.Sprint("n", i), Dir: fmt.Sprint("n", i)})
		}
		return all
	}
	for name, c := range map[string]struct {
		n    Nodes
		good bool
	}{
		"one":             {Nodes{Schema: NodesSchema, Nodes: nodes(1)}, true},
		"as many as may":  {Nodes{Schema: NodesSchema, Nodes: nodes(mostNodes)}, true},
		"one more":        {Nodes{Schema: NodesSchema, Nodes: nodes(mostNodes + 1)}, false},
		"none":            {Nodes{Schema: NodesSchema}, false},
		"no schema":       {Nodes{Nodes: nodes(1)}, false},
		"another schema":  {Nodes{Schema: PlanSchema, Nodes: nodes(1)}, false},
		"a name twice":    {Nodes{Schema: NodesSchema, Nodes: []NodeResult{{Name: "a", Dir: "a"}, {Name: "a", Dir: "b"}}}, false},
		"a place twice":   {Nodes{Schema: NodesSchema, Nodes: []NodeResult{{Name: "a", Dir: "a"}, {Name: "b", Dir: "a"}}}, false},
		"a name too long": {Nodes{Schema: NodesSchema, Nodes: []NodeResult{{Name: strings.Repeat("x", MostName+1), Dir: "a"}}}, false},
	} {
		dir, _ := write(t, runLine())
		if err := WriteJSON(dir, NodesFile, c.n); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadNodes(dir); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecordsWithinBounds(t *testing.T) {
	warning := []byte(`{"warning":{"text":"x"}}` + "\n")
	for name, c := range map[string]struct {
		text []byte
		says string
	}{
		"a long line":       {[]byte(`{"warning":{"text":"` + strings.Repeat("x", longestLine) + `"}}` + "\n"), errLong.Error()},
		"a line of values":  {[]byte(`{"warning":{"text":"x","values":[` + strings.Repeat("1,", mostMembers) + "1]}}\n"), "values in a line"},
		"an empty object":   {[]byte("{}\n"), errEmpty.Error()},
		"too many warnings": {bytes.Repeat(warning, mostKept+1), ErrBounds.Error()},
	} {
		dir, _ := write(t, runLine())
		f, err := os.OpenFile(filepath.Join(dir, RecordFile), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Write(append(c.text, warning...))
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Scan(dir); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %.200v, want %q", name, err, c.says)
		}
	}
}
