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

// sideBySide is the comparison of several nodes, and its directory.
type sideBySide struct {
	*record.Nodes
	dir string
}

// compareNodes compares nodes with results below dir.
func compareNodes(dir string, all []analysis.OfNode, left []record.Left) *sideBySide {
	s := &sideBySide{Nodes: analysis.Nodes(all), dir: dir}
	s.Left = left
	return s
}

// readNodes analyses the results of several nodes in a directory again; nil: the directory
// has no such results.
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

// isNodes says whether a directory has the results of several nodes.
func isNodes(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.NodesFile))
	return err == nil
}

// write writes the comparison into its directory.
func (s *sideBySide) write() error { return record.WriteJSON(s.dir, record.NodesFile, s.Nodes) }

// print prints the comparison as text, Markdown or JSON.
func (s *sideBySide) print(c *console, f format) error {
	switch f {
	case "json":
		return export.Object(c.stdout, s.Nodes)
	case "markdown":
		return report.PrintMarkdown(c.stdout, c.reports().Nodes(s.Nodes))
	case "text":
		return report.Print(c.stdout, c.reports().Nodes(s.Nodes), c.look(report.Options{}))
	}
	return nil
}
