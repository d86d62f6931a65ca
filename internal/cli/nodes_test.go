package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/nodes"
)

func TestNodeFlags(t *testing.T) {
	for _, c := range []struct {
		f     nodeFlags
		helps string
	}{
		{nodeFlags{Nodes: []string{"a"}}, "--node-helper"},
		{nodeFlags{Nodes: []string{"all"}}, "--node-helper"},
		{nodeFlags{NodeHelper: true}, "--nodes a,b"},
		{nodeFlags{NodeHelper: true, Nodes: []string{"all"}}, ""},
		{nodeFlags{NodeHelper: true, Nodes: []string{"all"}, HelperImage: "busybox:1"}, "busybox:1@sha256:"},
		{nodeFlags{NodeHelper: true, Nodes: []string{"all"}, HelperImage: "busybox@sha256:0123"}, ""},
	} {
		err := c.f.checkHelper()
		if (err == nil) != (c.helps == "") || !strings.Contains(hint.Of(err), c.helps) || err != nil && exitCode(err) != exitUsage {
			t.Errorf("%+v: %v; %s", c.f, err, hint.Of(err))
		}
	}
	f := nodeFlags{Nodes: []string{"a", "b"}, NodeHelper: true, HelperImage: "busybox"}
	if got := strings.Join(f.helperArgs(), " "); got != "--nodes=a,b --node-helper --helper-image=busybox" {
		t.Errorf("repeated by %q", got)
	}
	var here *helperRun
	there := &helperRun{nodes.About{Node: "n", Command: []string{"tare", "run", "--nodes=n"}}}
	if got := here.command([]string{"x"}, 7); len(got) != 1 || strings.Join(there.command(nil, 7), " ") != "tare run --nodes=n --seed=7" {
		t.Errorf("%v %v", got, there.command(nil, 7))
	}
}

// Lines have the prefix of their node, also if they come in pieces.
func TestRelayed(t *testing.T) {
	var b bytes.Buffer
	p := &relayed{to: &b, prefix: "n1: "}
	for _, piece := range []string{"one\ntw", "o\n", "\nthr"} {
		if n, err := p.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	if got := b.String(); got != "n1: one\nn1: two\nn1: \n" {
		t.Errorf("%q", got)
	}
	p.flush()
	p.flush()
	if got := b.String(); got != "n1: one\nn1: two\nn1: \nn1: thr\n" {
		t.Errorf("%q", got)
	}
}

// A line without an end is not buffered: it is printed in parts, and nothing of it is lost.
func TestRelayedEndless(t *testing.T) {
	const pieces, size = 1000, 1000 // bytes
	var b bytes.Buffer
	p := &relayed{to: &b, prefix: "n1: "}
	for range pieces {
		if _, err := p.Write(bytes.Repeat([]byte("x"), size)); err != nil {
			t.Fatal(err)
		}
		if len(p.part) > longestLine {
			t.Fatalf("%d bytes are kept", len(p.part))
		}
	}
	p.flush()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	said := 0
	for _, l := range lines {
		text, ok := strings.CutPrefix(l, "n1: ")
		if !ok {
			t.Fatalf("a line without its node: %.20q", l)
		}
		said += len(text)
	}
	if said != pieces*size || len(lines) < 2 {
		t.Errorf("%d bytes in %d lines", said, len(lines))
	}
}

// After a signal no other node is measured.
func TestVisitEndsWithASignal(t *testing.T) {
	devnull, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer devnull.Close()
	v := &nodeRunner{console: &console{stderr: devnull}}
	v.signals.Add(1)
	chosen := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	for i, err := range v.runAll(context.Background(), chosen) {
		if exitCode(err) != 130 || !strings.Contains(err.Error(), chosen[i].Name) {
			t.Errorf("%v", err)
		}
	}
}
