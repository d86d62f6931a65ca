package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// dashboard is what these tests need of docs/grafana/tare.json. tools/dashboard checks the rest of it.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

// variables are the variables of the dashboard with the value All.
var variables = regexp.MustCompile(`\$(experiment|workload|metric)\b`)

func readDashboard(t *testing.T) (queries map[string]string, definitions []string) {
	t.Helper()
	b, err := os.ReadFile("../../../docs/grafana/tare.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	queries = map[string]string{}
	for _, p := range d.Panels {
		for i, target := range p.Targets {
			queries[fmt.Sprintf("%s, query %d", p.Title, i+1)] = variables.ReplaceAllString(target.Expr, ".*")
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			definitions = append(definitions, variables.ReplaceAllString(v.Definition, ".*"))
		}
	}
	if len(queries) < 15 || len(definitions) != 3 {
		t.Fatalf("%d queries, %d variables", len(queries), len(definitions))
	}
	for name, q := range queries {
		if strings.Contains(q, "$") {
			t.Errorf("%s has a variable that this test does not know: %s", name, q)
		}
	}
	return queries, definitions
}

// exports are what tare exports of the two real results.
func exports(t *testing.T) (texts [][]byte, all []*record.Effects) {
	t.Helper()
	for _, dir := range []string{shippedResult, realResult} {
		e := effectsOf(t, dir)
		var b bytes.Buffer
		if err := OpenMetrics(&b, e); err != nil {
			t.Fatal(err)
		}
		texts, all = append(texts, b.Bytes()), append(all, e)
	}
	return texts, all
}

// Every metric that the dashboard names is in an export, and every metric of an export that has no unit of a load's own is in the
// dashboard.
func TestDashboardNamesMetrics(t *testing.T) {
	queries, definitions := readDashboard(t)
	texts, _ := exports(t)
	has := map[string]bool{}
	for _, text := range texts {
		for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+) gauge$`).FindAllSubmatch(text, -1) {
			has[string(m[1])] = true
		}
	}
	asked := map[string]bool{}
	for _, q := range queries {
		definitions = append(definitions, q)
	}
	for _, q := range definitions {
		for _, name := range regexp.MustCompile(`\btare_\w+`).FindAllString(q, -1) {
			if asked[name] = true; !has[name] {
				t.Errorf("no export has %s: %s", name, q)
			}
		}
	}
	for name := range has {
		if !asked[name] && !strings.HasPrefix(name, "tare_arm_") {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// prometheus is a real Prometheus on loopback that scrapes the texts.
type prometheus struct {
	t   *testing.T
	api string
}

func startPrometheus(t *testing.T, texts [][]byte) prometheus {
	t.Helper()
	program := testneed.Tool(t, "prometheus")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil || i >= len(texts) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		w.Write(texts[i])
	}))
	t.Cleanup(server.Close)
	dir, port := t.TempDir(), testneed.Port(t)
	config := "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"
	for i := range texts {
		config += fmt.Sprintf("- {job_name: tare%d, metrics_path: /%d, static_configs: [{targets: [%q]}]}\n", i, i, strings.TrimPrefix(server.URL, "http://"))
	}
	path := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	at := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := exec.Command(program, "--config.file="+path, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+at, "--log.level=warn")
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("prometheus: %s", said.Bytes())
		}
	})
	return prometheus{t, "http://" + at + "/api/v1/"}
}

// vector is the answer to an instant query.
type vector struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
}

func (p prometheus) get(ctx context.Context, path string, args url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.api+path+"?"+args.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

func (p prometheus) query(expr string) (v vector) {
	p.t.Helper()
	if err := p.get(p.t.Context(), "query", url.Values{"query": {expr}}, &v); err != nil {
		p.t.Fatalf("%s: %v", expr, err)
	}
	return v
}

// wait waits until both texts are scraped.
func (p prometheus) wait(texts int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		var v vector
		err := p.get(ctx, "query", url.Values{"query": {"tare_margin_ratio"}}, &v)
		if err == nil && len(v.Data.Result) == texts {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.t.Fatal("Prometheus has not scraped the exports")
}

// Prometheus reads the export, answers every query of the dashboard and finds values for its variables.
func TestDashboardInPrometheus(t *testing.T) {
	queries, definitions := readDashboard(t)
	texts, all := exports(t)
	p := startPrometheus(t, texts)
	p.wait(len(texts))
	for name, expr := range queries {
		if v := p.query(expr); v.Status != "success" || len(v.Data.Result) == 0 {
			t.Errorf("%s: %s %s, %d series: %s", name, v.Status, v.Error, len(v.Data.Result), expr)
		}
	}
	for _, d := range definitions {
		m := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(d)
		if m == nil {
			t.Errorf("no label_values: %s", d)
			continue
		}
		var values struct{ Data []string }
		if err := p.get(t.Context(), "label/"+m[2]+"/values", url.Values{"match[]": {m[1]}}, &values); err != nil || len(values.Data) == 0 {
			t.Errorf("%s: %v, %v", d, values.Data, err)
		}
	}
	wantEffectsIn(t, p, all[0])
}

// wantEffectsIn compares the effects that Prometheus has with those of tare.
func wantEffectsIn(t *testing.T, p prometheus, e *record.Effects) {
	t.Helper()
	got := map[string]float64{}
	for _, r := range p.query(`tare_effect_ratio{estimate="typical",job="tare0"} - 1`).Data.Result {
		x, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		got[r.Metric["workload"]+" "+r.Metric["metric"]+" "+r.Metric["arm"]] = x
	}
	seen := 0
	for _, x := range e.Effects {
		if x.Typical == nil {
			continue
		}
		seen++
		if v, ok := got[x.Workload+" "+x.Metric+" "+x.Arm]; !ok || math.Abs(v-(x.Typical.Ratio-1)) > 1e-8*x.Typical.Ratio {
			t.Errorf("%s %s %s: %v, want %v", x.Workload, x.Metric, x.Arm, v, x.Typical.Ratio-1)
		}
	}
	if seen == 0 {
		t.Error("no effect has a ratio")
	}
}
