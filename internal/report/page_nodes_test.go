package report

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/record"
)

// realNodes are real records, see testdata/nodes/README.md.
func realNodes(t testing.TB, names ...string) (*record.Nodes, NodesSource) {
	t.Helper()
	var all []analysis.OfNode
	s := NodesSource{Pages: map[string]string{}, Effects: map[string]*record.Effects{}}
	for _, name := range names {
		r, err := record.Read(filepath.Join("testdata", "nodes", name))
		if err != nil {
			t.Fatal(err)
		}
		e, err := analysis.Analyse(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, analysis.OfNode{Name: name, Dir: name, Manifest: r.Manifest, Effects: e})
		s.Pages[name], s.Effects[name] = name+"/report.html", e
	}
	return analysis.Nodes(all), s
}

// withNodes gives nodes and what is beside them, made anew.
type withNodes func() (*record.Nodes, NodesSource)

func nodesPageOf(t testing.TB, with withNodes) string {
	t.Helper()
	n, s := with()
	var b bytes.Buffer
	if err := NodesHTML(&b, n, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func bare(n *record.Nodes) withNodes {
	return func() (*record.Nodes, NodesSource) { return n, NodesSource{} }
}

func threeReal(t testing.TB) withNodes {
	return func() (*record.Nodes, NodesSource) { return realNodes(t, "a", "b", "d") }
}

// nodesFixtures are pages with every answer that there is.
func nodesFixtures(t testing.TB) map[string]withNodes {
	left := threeNodes(true)
	left.Left = []record.Left{{Arm: "d", Reason: "node d is not ready: kubelet stopped posting node status", Remedy: "kubectl describe node d"}}
	left.Nodes[1].Ended = "interrupted"
	left.Nodes[2].Trust = []record.NodeTrust{{Workload: "db", Blocks: 12, Generations: 3, Twin: ratio(-9, 3), TwinDiffers: true, Failed: []string{"halves"}}}
	left.Facts = []record.NodeFact{
		{Name: "kernel", Differs: true, Values: map[string]string{"a": "6.1.0-27-amd64", "b": "6.1.0-27-amd64", "c": "5.15.0-1074-azure"}},
		{Name: "memory", Unit: "B", Differs: true, Values: map[string]string{"a": "17179869184", "b": "17179869184", "c": "8589934592"}},
		{Name: "mitigation of spectre_v2", Differs: true, Values: map[string]string{"a": "Mitigation: Retpolines; STIBP: disabled; RSB filling; BHI: Retpoline", "c": "Vulnerable"}},
		{Name: "kube.kubelet", Workload: "db", Arms: []string{"pod"}, All: true, Differs: true, Values: map[string]string{"a": "v1.34.4", "b": "v1.34.4", "c": "v1.33.1"}},
		{Name: "cpu.cfs_quota_us", Workload: "db", Arms: []string{"guaranteed", "guaranteed-busy"}, Differs: true, Values: map[string]string{"a": "-1", "b": "-1", "c": "150000"}},
		{Name: "pod.cpu.manager", Workload: "db", Arms: []string{"pod"}, All: true, Values: map[string]string{"a": "static", "b": "static", "c": "static"}},
	}
	invalid := threeNodes(false)
	invalid.Arms[0].Apart = map[string]string{"c": "invalid: 9 of 18 blocks had to be dropped"}
	return map[string]withNodes{
		"nodes-odd":     threeReal(t),
		"nodes-differ":  func() (*record.Nodes, NodesSource) { return realNodes(t, "a", "b", "c") },
		"nodes-two":     func() (*record.Nodes, NodesSource) { return realNodes(t, "b", "d") },
		"nodes-alone":   func() (*record.Nodes, NodesSource) { return realNodes(t, "a") },
		"nodes-left":    bare(left),
		"nodes-invalid": bare(invalid),
		"nodes-empty":   bare(&record.Nodes{}),
	}
}

// TestNodesPageGolden compares whole pages with what a person looked at.
func TestNodesPageGolden(t *testing.T) {
	for name, make := range nodesFixtures(t) {
		goldenPage(t, name+".html", nodesPageOf(t, make))
	}
}

// Pages of the same nodes are the same, need nothing from elsewhere, and have no
// number that is none.
func TestNodesPageOfEverything(t *testing.T) {
	for name, make := range nodesFixtures(t) {
		page := nodesPageOf(t, make)
		if nodesPageOf(t, make) != page {
			t.Errorf("%s: two pages of the same nodes differ", name)
		}
		checkPage(t, name, page)
	}
}

// The page says which node is odd, marks it by a word and a shape, leads to each
// node's own page, and shows what differs.
func TestNodesPageOdd(t *testing.T) {
	page := nodesPageOf(t, threeReal(t))
	verdict := regexp.MustCompile(`(?s)<h1>(.*?)</h1>`).FindStringSubmatch(page)[1]
	if !strings.Contains(verdict, `<span class="strong">d</span> <span class="bad">is odd</span> in box of db`) {
		t.Errorf("the verdict is %s", verdict)
	}
	for _, want := range []string{`<a href="a/report.html">a</a>`, `<a href="d/report.html">d</a>`, `<rect class="dot"`, `class="others"`, ">odd</text>", "neighbour.pids.limit in db"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if strings.Contains(page, "<script") {
		t.Error("the page has a script")
	}
	if page := nodesPageOf(t, nodesFixtures(t)["nodes-two"]); !strings.Contains(page, "of two nobody can say which one is odd") || strings.Contains(page, `<rect class="dot"`) {
		t.Error("one of two is called odd")
	}
}

// The data behind each chart is a row per node.
func TestNodesPageData(t *testing.T) {
	n, _ := realNodes(t, "a", "b", "d")
	files := regexp.MustCompile(`href="data:text/csv;charset=utf-8;base64,([^"]*)" download="([^"]*)"`).FindAllStringSubmatch(nodesPageOf(t, threeReal(t)), -1)
	if len(files) < len(n.Arms) {
		t.Fatalf("%d files of %d arms", len(files), len(n.Arms))
	}
	odd := 0
	for _, f := range files {
		raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(f[1], "&#43;", "+"))
		if err != nil {
			t.Fatalf("%s: %v", f[2], err)
		}
		rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
		if err != nil || len(rows) != 4 || rows[0][4] != "node" || rows[3][4] != "d" {
			t.Errorf("%s: %v, %v", f[2], rows, err)
			continue
		}
		if rows[3][16] == "true" {
			odd++
		}
	}
	if odd != 1 {
		t.Errorf("odd in %d files", odd)
	}
}

// Hostile names stay text.
func TestNodesPageEscapes(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>"'>` + "\x1b[31m"
	n := threeNodes(true)
	n.Experiment += evil
	n.Nodes[0].Name += evil
	n.Arms[0].Effects[n.Nodes[0].Name] = ratio(-2, 1)
	n.Arms[0].Apart = map[string]string{n.Nodes[0].Name: evil}
	n.Facts = []record.NodeFact{{Name: "kernel" + evil, Differs: true, Values: map[string]string{"b": evil}}}
	page := nodesPageOf(t, func() (*record.Nodes, NodesSource) {
		return n, NodesSource{Pages: map[string]string{"b": "javascript:alert(3)"}}
	})
	for _, bad := range []string{"<img", "\x1b", `href="javascript:`} {
		if strings.Contains(page, bad) {
			t.Errorf("%q reached the page", bad)
		}
	}
	if !strings.Contains(page, "onerror=alert(1)&gt;") {
		t.Error("the hostile name is not on the page at all")
	}
	checkPage(t, "hostile", page)
}
