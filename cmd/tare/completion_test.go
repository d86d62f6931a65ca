package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// typist has a directory with a tare in PATH, results, and a kubeconfig.
type typist struct {
	dir string
	env []string
}

// newTypist makes a directory in which tare can be completed.
func newTypist(t *testing.T, server string) typist {
	t.Helper()
	k := typist{dir: t.TempDir()}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(k.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/tare", fmt.Sprintf("#!/bin/sh\nexec '%s' __cli \"$@\"\n", exe), 0o755)
	for _, name := range []string{"kubectl-tare", "kubectl_complete-tare"} {
		if err := os.Symlink(exe, filepath.Join(k.dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	write("work/mine.yaml", `arms: {cold: {environment: host}, warm: {environment: host}}
baseline: cold
workloads: {w: {kind: commit}}
`, 0o644)
	write("work/kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: west
contexts:
- {name: west, context: {cluster: c, user: u}}
- {name: east, context: {cluster: c, user: u}}
clusters:
- {name: c, cluster: {server: %q}}
users:
- {name: u, user: {token: t}}
`, server), 0o600)
	for _, dir := range []string{"before", "after", "a result"} {
		m := made{id: "k3m5p7r9", end: "budget", host: "db7", kernel: "6.12.0", version: "1.0", size: "1KiB"}
		m.launches, m.blocks = 1, 1
		if err := m.write(filepath.Join(k.dir, "work", dir)); err != nil {
			t.Fatal(err)
		}
	}
	write("work/foreign/plan.json", "{}", 0o644)
	if err := syscall.Mkfifo(filepath.Join(k.dir, "work/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	k.env = []string{
		"PATH=" + filepath.Join(k.dir, "bin") + ":/usr/bin:/bin", "HOME=" + k.dir, "TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"KUBECONFIG=" + filepath.Join(k.dir, "work/kubeconfig"), "XDG_STATE_HOME=" + filepath.Join(k.dir, "state"),
	}
	return k
}

// asks returns what the hidden command answers a shell.
func (k typist) asks(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command(filepath.Join(k.dir, "bin/tare"), append([]string{"__complete"}, args...)...)
	cmd.Dir, cmd.Env = filepath.Join(k.dir, "work"), k.env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	var values []string
	for line := range strings.Lines(string(out)) {
		value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		values = append(values, value)
	}
	return values
}

// playedCluster plays the API server: two nodes and two StorageClasses.
func playedCluster(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1/nodes":
			fmt.Fprint(w, `{"kind":"NodeList","apiVersion":"v1",
				"items":[{"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]}`)
		case "/apis/storage.k8s.io/v1/storageclasses":
			fmt.Fprint(w, `{"items":[{"metadata":{"name":"fast"}},{"metadata":{"name":"slow"}}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// placeIn is a command line whose last word is completed, with words that are offered and words that are not.
type placeIn struct {
	line       string
	has, hasnt []string
}

func completions() []placeIn {
	return []placeIn{
		{"", []string{"run", "presets", "help", "completion"}, []string{"man", "--budget"}},
		{"re", []string{"report"}, []string{"run"}},
		{"presets ", []string{"list", "show"}, nil},
		{"presets show mysql-", []string{"mysql-layers"}, []string{"quick"}},
		{"help ", []string{"run", "kubernetes"}, []string{"help"}},
		{"help presets ", []string{"show"}, []string{"quick"}},
		{"help run ", nil, []string{"quick"}},
		{"run ", []string{"quick", "mysql-layers", ":files"}, []string{"before"}},
		{"run --", []string{"--budget", "--nodes", "--color"}, []string{"--force", "--node-about", "--seed"}},
		{"run --budget 3m --bud", nil, []string{"--budget"}},
		{"run --set a=b --se", []string{"--set"}, nil},
		{"run --arms ", []string{"cgroup", "container", "besteffort"}, nil},
		{"run --arms cgroup,con", []string{"cgroup,container"}, []string{"container"}},
		{"run mine.yaml --arms ", []string{"cold", "warm"}, []string{"cgroup"}},
		{"run mine.yaml --arms=warm,", []string{"--arms=warm,cold"}, []string{"--arms=warm,warm"}},
		{"run fifo --arms ", nil, []string{"cold", "cgroup"}},
		{"run mine.yaml --workload ", []string{"w"}, []string{"fio"}},
		{"run mine.yaml --set w.", []string{"w.size=", ":nospace"}, []string{"window="}},
		{"run --max-cost ", []string{"throughput=", "p99=", ":nospace"}, nil},
		{"run --format ", []string{"json", "openmetrics"}, nil},
		{"plan --format ", []string{"json"}, []string{"csv"}},
		{"run --progress p", []string{"plain"}, []string{"json"}},
		{"run -o ", []string{":dirs"}, nil},
		{"run -q --scratch ", []string{":dirs"}, nil},
		{"run --nodes ", []string{"n1", "n2", "all"}, nil},
		{"run --nodes n1,", []string{"n1,n2"}, []string{"n1,n1"}},
		{"run --context ", []string{"east", "west"}, nil},
		{"run --volume ", []string{"tmpfs", "loop:ext4", "pvc:", "dir:"}, []string{"pvc:CLASS"}},
		{"run --volume pvc:", []string{"pvc:fast", "pvc:slow"}, []string{"tmpfs"}},
		{"run --continue ", []string{"before", "after"}, []string{":dirs"}},
		{"report ", []string{"before", "after"}, nil},
		{"report for", []string{":dirs"}, []string{"foreign"}},
		{"report ../work/be", []string{"../work/before"}, []string{"before"}},
		{"check before --arm ", []string{"host", "container"}, nil},
		{"check before --workload ", []string{"db"}, nil},
		{"advise ", []string{"colocation", "before"}, nil},
		{"import host=a.log --baseline ", []string{"host"}, nil},
		{"image load x --into ", []string{"docker", "podman", "containerd"}, nil},
		{"completion ", []string{"bash", "zsh", "fish"}, nil},
		{"report before ", nil, []string{"after"}},
		{"nonsense ", nil, []string{"run"}},
		{"run -- --", nil, []string{"--budget"}},
	}
}

// Each place of a command line has its words.
func TestComplete(t *testing.T) {
	t.Parallel()
	k := newTypist(t, playedCluster(t))
	for _, c := range completions() {
		got := k.asks(t, append([]string{"zsh"}, strings.Split(c.line, " ")...)...)
		for _, want := range c.has {
			if !slices.Contains(got, want) {
				t.Errorf("%q: no %q in %q", c.line, want, got)
			}
		}
		for _, unwanted := range c.hasnt {
			if slices.Contains(got, unwanted) {
				t.Errorf("%q: %q in %q", c.line, unwanted, got)
			}
		}
	}
	// bash keeps what is before = and :.
	for _, c := range []struct{ line, part, want string }{
		{"tare run --volume pvc:f", "f", "fast"}, {"tare run --format=js", "js", "json"}, {"tare run --format=", "", "json"},
		{`tare run "mysql-la`, "mysql-la", "mysql-layers"}, {"tare run --arms cgroup,con", "cgroup,con", "cgroup,container"},
	} {
		if got := k.asks(t, "bash", c.line, c.part); !slices.Contains(got, c.want) {
			t.Errorf("bash %q: no %q in %q", c.line, c.want, got)
		}
	}
}

// A cluster that does not answer costs a moment, and gives nothing.
func TestCompleteWithoutCluster(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	for name, server := range map[string]string{"silent": silent.URL, "nobody": "http://" + testneed.Address(t)} {
		k := newTypist(t, server)
		if got := k.asks(t, "fish", "run", "--nodes", ""); !slices.Equal(got, []string{"all"}) {
			t.Errorf("%s: %q", name, got)
		}
		if got := k.asks(t, "fish", "run", "--volume", "pvc:"); len(got) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// kubectl completes the command lines of its plugin.
func TestCompleteOfPlugin(t *testing.T) {
	t.Parallel()
	kubectl := testneed.Tool(t, "kubectl")
	k := newTypist(t, playedCluster(t))
	for _, c := range []struct{ line, want string }{
		{"run --bud", "--budget\tTime of the whole run\n:4\n"},
		{"run mine.yaml --arms=warm,", "--arms=warm,cold\thost\n:4\n"},
		{"run --nodes n1,", "n1,n2\nn1,all\tevery node, with --node-helper\n:4\n"},
		{"run --max-cost through", "throughput=\tthroughput\n:6\n"},
		{"run min", ":0\n"},
		{"report for", ":16\n"},
		{"nonsense ", ":4\n"},
	} {
		cmd := exec.Command(kubectl, append([]string{"__complete", "tare"}, strings.Split(c.line, " ")...)...)
		cmd.Dir, cmd.Env = filepath.Join(k.dir, "work"), k.env
		out, err := cmd.Output()
		if err != nil || string(out) != c.want {
			t.Errorf("%q: %q (%v), want %q", c.line, out, err, c.want)
		}
	}
}

// bashCompletion is of a package that kubectl's completion in bash needs.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// shells are started without the user's own files. load loads the script of completion.
var shells = map[string]struct{ start, load string }{
	"bash":        {"bash --norc --noprofile -i", "source <(tare completion bash)"},
	"zsh":         {"zsh -f -i", "autoload -U compinit; compinit -u -D; source <(tare completion zsh)"},
	"zsh-package": {"zsh -f -i", "mkdir ../f; tare completion zsh >../f/_tare; fpath=(../f $fpath); autoload -U compinit; compinit -u -D"},
	"fish":        {"fish --no-config -i", "tare completion fish | source"},

	"bash-kubectl": {"bash --norc --noprofile -i", "source " + bashCompletion + "; source <(kubectl completion bash)"},
	"zsh-kubectl":  {"zsh -f -i", "autoload -U compinit; compinit -u -D; source <(kubectl completion zsh)"},
	"fish-kubectl": {"fish --no-config -i", "kubectl completion fish | source"},
}

// In the real shells the Tab key completes commands, flags, values and files.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	testneed.Tool(t, "tmux")
	for name := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testneed.Tool(t, strings.Fields(shells[name].start)[0])
			if name == "bash-kubectl" {
				_, err := os.Stat(bashCompletion)
				testneed.Feature(t, "bash-completion", err)
			}
			term := newTerm(t, newTypist(t, playedCluster(t)), name)
			if strings.HasSuffix(name, "-kubectl") {
				testneed.Tool(t, "kubectl")
				term.completes(t, "kubectl tare run --bud", "kubectl tare run --budget ")
				term.completes(t, "kubectl tare run mysql-lay", "kubectl tare run mysql-layers ")
				term.completes(t, "kubectl tare run --max-cost through", "kubectl tare run --max-cost throughput=")
				return
			}
			for _, c := range []struct{ typed, shown string }{
				{"tare compl", "tare completion "},
				{"tare run --bud", "tare run --budget "},
				{"tare run mysql-lay", "tare run mysql-layers "},
				{"tare run mine.y", "tare run mine.yaml "},
				{"tare run mine.yaml --arms=co", "tare run mine.yaml --arms=cold "},
				{"tare run mine.yaml --arms warm,co", "tare run mine.yaml --arms warm,cold "},
				{"tare run --max-cost through", "tare run --max-cost throughput="},
				{"tare run --volume pvc:fa", "tare run --volume pvc:fast "},
				{"tare run --nodes n1,n", "tare run --nodes n1,n2 "},
				{"tare report bef", "tare report before "},
				{"tare report a\\ r", `tare report a\ result `},
				{"tare import host=min", "tare import host=mine.yaml "},
			} {
				term.completes(t, c.typed, c.shown)
			}
			term.keys(t, "tare check before --format ")
			term.keys(t, "Tab", "Tab")
			term.shows(t, `junit(.|\n)*markdown|markdown(.|\n)*junit`)
		})
	}
}

// term is a shell in a terminal of tmux.
type term struct{ socket string }

func newTerm(t *testing.T, k typist, shell string) term {
	t.Helper()
	x := term{socket: filepath.Join(k.dir, "tmux")}
	start := "cd " + filepath.Join(k.dir, "work") + "; exec env -i " + strings.Join(k.env, " ") + " " + shells[shell].start
	x.tmux(t, "new-session", "-d", "-x", "120", "-y", "40", "sh", "-c", start)
	t.Cleanup(func() { x.leave(t) })
	x.shows(t, `[$%#>] *$`)
	x.keys(t, shells[shell].load, "Enter")
	x.keys(t, "echo lo''aded", "Enter")
	x.shows(t, `(?m)^loaded`)
	return x
}

// leave ends the shell, which may write its history then, and waits until it is gone.
func (x term) leave(t *testing.T) {
	for i := range 300 {
		if exec.Command("tmux", "-S", x.socket, "has-session").Run() != nil {
			return
		}
		if i%20 == 0 {
			_ = exec.Command("tmux", "-S", x.socket, "send-keys", "C-u", "exit", "Enter").Run() // it may be gone by now
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = exec.Command("tmux", "-S", x.socket, "kill-server").Run()
	t.Error("the shell does not end")
}

func (x term) tmux(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", x.socket, "-f", "/dev/null"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %s: %v %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// keys types a text or the named keys.
func (x term) keys(t *testing.T, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if k == "Tab" || k == "Enter" || k == "C-u" {
			x.tmux(t, "send-keys", k)
		} else {
			x.tmux(t, "send-keys", "-l", k)
		}
	}
}

// shows waits until the screen matches.
func (x term) shows(t *testing.T, pattern string) {
	t.Helper()
	re, screen := regexp.MustCompile(pattern), ""
	for range 300 {
		screen = strings.TrimRight(x.tmux(t, "capture-pane", "-p"), "\n")
		if re.MatchString(screen) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("no %s in\n%s", pattern, screen)
}

// completes types a line with the Tab key, sees it completed, and takes it back.
func (x term) completes(t *testing.T, typed, shown string) {
	t.Helper()
	x.keys(t, typed, "Tab", "Z")
	x.shows(t, `[$%#>] `+regexp.QuoteMeta(shown)+`Z`)
	x.keys(t, "C-u")
	x.shows(t, `[$%#>] *\z`)
}
