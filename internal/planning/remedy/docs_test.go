package remedy_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/record"
)

var update = flag.Bool("update", false, "write docs/remedies.md")

const page = "../../../docs/remedies.md"

// kinds are the headings of the list, by the first cause of a remedy.
var kinds = []struct {
	title  string
	causes []record.LossCause
}{
	{"neighbour", []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourDisk, record.LossNeighbourMemory}},
	{"container", []record.LossCause{record.LossVeth, record.LossNAT, record.LossOverlay, record.LossSeccomp, record.LossOtherWork, record.LossCPULimit, record.LossMemoryLimit}},
	{"pod", []record.LossCause{record.LossPod}},
	{"volume, server", []record.LossCause{record.LossVolume, record.LossServer}},
}

// docs/remedies.md lists the remedies; -update writes it.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Remedies\n\n    tare advise colocation\n\ntries the remedies that fit the causes of a loss and this host, and proves the best one with fresh launches. With `-v` it prints the settings, their price, and the lines that apply and undo them for Docker, Podman, Compose, Quadlet, systemd, kubectl, kustomize, Helm and option files. No remedy weakens durability. tare sets none of them itself: the lines are yours to apply.\n\n")
	listed := 0
	for _, k := range kinds {
		var names []string
		for _, r := range remedy.All() {
			for _, c := range k.causes {
				if r.For[0] == c {
					names = append(names, "`"+r.Name+"`")
				}
			}
		}
		listed += len(names)
		fmt.Fprintf(&b, "- %s: %s\n", k.title, strings.Join(names, " "))
	}
	if listed != len(remedy.All()) {
		t.Errorf("%d of %d remedies are listed", listed, len(remedy.All()))
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != b.String() {
		t.Errorf("%s is not of this tare (go test -update writes it): %v\n%s", page, err, b.String())
	}
}
