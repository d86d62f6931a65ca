// Package dashboard checks the dashboard of docs/grafana with the types of Grafana's own SDK. Package internal/report/export
// runs its queries in a Prometheus.
package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// check reads a dashboard and returns what Grafana's types do not have of it.
func check(text []byte) error {
	runtime := cog.NewRuntime()
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	runtime.RegisterPanelcfgVariant(bargauge.VariantConfig())
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(statetimeline.VariantConfig())
	runtime.RegisterPanelcfgVariant(table.VariantConfig())
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	var strict, d dashboard.Dashboard
	err := strict.UnmarshalJSONStrict(text)
	var list cog.BuildErrors // the strict functions return an empty one for no error, and leave panels out then
	if err != nil && (!errors.As(err, &list) || len(list) > 0) {
		return err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	if err := d.Validate(); err != nil {
		return err
	}
	for _, p := range d.Panels {
		if p.Panel == nil {
			return errors.New("a row")
		}
		if _, ok := runtime.ConfigForPanelcfgVariant(p.Panel.Type); !ok { // nothing has checked its options
			return fmt.Errorf("a panel of the type %s", p.Panel.Type)
		}
	}
	return nil
}

// Grafana's types have every field of the dashboard, with its type; panels do not overlap, and each has a number of its own.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../docs/grafana/tare.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := check(text); err != nil {
		t.Error(err)
	}
	for was, is := range map[string]string{
		`"schemaVersion": 39`: `"schemaVersion": "new"`, `"expr"`: `"expression"`, `"showUnfilled"`: `"showFilled"`, `"lineWidth": 2`: `"lineWidth": "two"`,
		`"type": "timeseries"`: `"type": "timeserie"`, `"gridPos"`: `"gridPosition"`,
	} {
		broken := strings.Replace(string(text), was, is, 1)
		if broken == string(text) || check([]byte(broken)) == nil {
			t.Errorf("%s in the place of %s is no problem", is, was)
		}
	}
	wantApart(t, text)
}

func wantApart(t *testing.T, text []byte) {
	t.Helper()
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	const columns = 24
	at, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.GridPos.X+p.GridPos.W > columns {
			t.Errorf("%s: number %d, columns %d to %d", p.Title, p.ID, p.GridPos.X, p.GridPos.X+p.GridPos.W)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := at[[2]int{x, y}]; other != "" {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				at[[2]int{x, y}] = p.Title
			}
		}
	}
}
