package cli

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/export"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// sideBySide is what a run over several nodes has left in its directory.
type sideBySide struct {
	*record.Nodes
	dir     string
	results map[string]*record.Result // by node
	effects map[string]*record.Effects
}

// compareNodes puts nodes side by side whose results were read from below dir.
func compareNodes(dir string, all []analysis.OfNode, results map[string]*record.Result, left []record.Left) *sideBySide {
	s := &sideBySide{Nodes: analysis.Nodes(all), dir: dir, results: results, effects: map[string]*record.Effects{}}
	s.Left = left
	for _, n := range all {
		s.effects[n.Name] = n.Effects
	}
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
	results := map[string]*record.Result{}
	for _, n := range was.Nodes {
		below := n.Dir
		result, effects, err := analyse(filepath.Join(dir, below))
		if err != nil {
			return nil, err
		}
		results[n.Name] = result
		all = append(all, analysis.OfNode{Name: n.Name, Dir: below, Manifest: result.Manifest, Effects: effects})
	}
	return compareNodes(dir, all, results, was.Left), nil
}

// isNodes says that a directory is one of a run over several nodes.
func isNodes(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.NodesFile))
	return err == nil
}

// page prints the page of all nodes; the page of each is at the address that
// where gives for its directory.
func (s *sideBySide) page(w io.Writer, where func(dir string) string) error {
	pages := map[string]string{}
	for _, n := range s.Nodes.Nodes {
		pages[n.Name] = where(n.Dir)
	}
	return report.NodesHTML(w, s.Nodes, report.NodesSource{Pages: pages, Effects: s.effects})
}

// pageBelow is where the page of a node is, seen from a directory.
func pageBelow(from string) func(string) string {
	return func(dir string) string {
		// A colon in the first element would be read as a scheme; String puts "./"
		// before it.
		return (&url.URL{Path: path.Join(filepath.ToSlash(from), dir, record.PageFile)}).String()
	}
}

// keep writes what the nodes say into their directory.
func (s *sideBySide) keep() error {
	if err := record.WriteJSON(s.dir, record.NodesFile, s.Nodes); err != nil {
		return err
	}
	_, err := s.writePage(s.dir)
	return err
}

// writePage writes the page of all nodes into a directory and returns its path.
func (s *sideBySide) writePage(dir string) (string, error) {
	var b bytes.Buffer
	if err := s.page(&b, pageBelow("")); err != nil {
		return "", err
	}
	return filepath.Join(dir, record.PageFile), record.WriteFile(dir, record.PageFile, b.Bytes())
}

// writePages writes the page of all nodes and that of each.
func (s *sideBySide) writePages(dir string) (string, error) {
	for _, n := range s.Nodes.Nodes {
		below := filepath.Join(dir, n.Dir)
		if err := os.MkdirAll(below, 0o755); err != nil {
			return "", err
		}
		if _, err := writePage(below, s.results[n.Name], s.effects[n.Name]); err != nil {
			return "", err
		}
	}
	return s.writePage(dir)
}

// print prints the nodes side by side, in the forms that have one for them.
func (s *sideBySide) print(c *console, f format) error {
	switch f {
	case "json":
		return export.Object(c.stdout, s.Nodes)
	case "markdown":
		return report.PrintMarkdown(c.stdout, report.Nodes(s.Nodes))
	case "html":
		return s.page(c.stdout, pageBelow(s.dir))
	case "text":
		return report.Print(c.stdout, report.Nodes(s.Nodes), c.look(report.Options{}))
	}
	return nil
}
