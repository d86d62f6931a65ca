package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// sideBySide is what a run over several nodes has left in its directory.
type sideBySide struct {
	*record.Nodes
	dir string
}

// compareNodes puts nodes side by side whose results were read from below dir.
func compareNodes(dir string, all []analysis.OfNode, left []record.Left) *sideBySide {
	s := &sideBySide{Nodes: analysis.Nodes(all), dir: dir}
	s.Left = left
	return s
}

// readNodes computes anew what a run over several nodes says; nil: the directory
// is none of such a run.
func readNodes(dir string) (*sideBySide, error) {
	was, err := record.ReadNodes(dir)
	if errors.Is(err, record.ErrNoRecord) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []analysis.OfNode
	for _, n := range was.Nodes {
		below := n.Dir
		result, effects, err := analyse(filepath.Join(dir, below))
		if err != nil {
			return nil, err
		}
		all = append(all, analysis.OfNode{Name: n.Name, Dir: below, Manifest: result.Manifest, Effects: effects})
	}
	return compareNodes(dir, all, was.Left), nil
}

// isNodes says that a directory is one of a run over several nodes.
func isNodes(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.NodesFile))
	return err == nil
}

// keep writes what the nodes say into their directory.
func (s *sideBySide) keep() error { return record.WriteJSON(s.dir, record.NodesFile, s.Nodes) }

// print prints the nodes side by side, in the forms that have one for them.
func (s *sideBySide) print(c *console, f format) error {
	switch f {
	case "json":
		return export.Object(c.stdout, s.Nodes)
	case "markdown":
		return report.PrintMarkdown(c.stdout, report.Nodes(s.Nodes))
	case "text":
		return report.Print(c.stdout, report.Nodes(s.Nodes), c.look(report.Options{}))
	}
	return nil
}
