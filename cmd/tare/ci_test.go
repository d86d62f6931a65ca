package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
)

// halved is an experiment whose second arm does half of the work.
const halved = "workloads: {spin: {kind: spin, arms: {host: {environment: host}, slow: {environment: host, set: {work: 2}}}}}\n"

// ciStep runs a step with sh, as the runner does, and returns its exit code and output.
func ciStep(t *testing.T, dir, script string, env ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), string(b)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return 0, string(b)
}

func readYAML(t *testing.T, path string, to any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, to); err != nil {
		t.Fatal(err)
	}
}

func ciDir(t *testing.T) (dir, root string, env []string) {
	t.Helper()
	testneed.Root(t)
	testneed.Tool(t, "git")
	testneed.Tool(t, "go")
	dir = t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // loads run as nobody
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "half.yaml"), []byte(halved), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, root, []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), hostlock.DirEnv + "=" + dir,
		"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE")}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	b, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// contains fails unless a file has all these texts.
func contains(t *testing.T, path string, texts ...string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if !strings.Contains(string(b), text) {
			t.Errorf("%s lacks %q:\n%s", filepath.Base(path), text, b)
		}
	}
}

// The steps of action.yml build tare, measure, post the table and pass the exit code on.
func TestGitHubAction(t *testing.T) {
	dir, root, env := ciDir(t)
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Name, Shell, Run string
				Env              map[string]string
			}
		}
	}
	readYAML(t, filepath.Join(root, "action.yml"), &action)
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 3 {
		t.Fatalf("%+v", action.Runs)
	}
	summary, output := filepath.Join(dir, "summary.md"), filepath.Join(dir, "output")
	env = append(env, "GITHUB_ACTION_PATH="+root, "RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+summary, "GITHUB_OUTPUT="+output)
	given := map[string]string{"run": "half.yaml --budget 2m --until-decided", "limits": "throughput=5%"}
	step := func(i int, more ...string) (int, string) {
		s := action.Runs.Steps[i]
		if s.Shell != "sh" || strings.Contains(s.Run, "${{") {
			t.Fatalf("step %s: shell %s, or an expression in the script", s.Name, s.Shell)
		}
		all := append(env[:len(env):len(env)], more...)
		for name, value := range s.Env {
			input, ok := strings.CutPrefix(value, "${{ inputs.")
			if input = strings.TrimSuffix(input, " }}"); ok {
				if value, ok = given[input]; !ok {
					value = action.Inputs[input].Default
				}
				all = append(all, name+"="+value)
			}
		}
		return ciStep(t, dir, s.Run, all...)
	}
	for i := range 2 {
		code, out := step(i)
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s", action.Runs.Steps[i].Name, code, out)
		}
		t.Log(out)
	}
	contains(t, output, "code=3\n")
	contains(t, summary, "| slow | throughput |", "**exceeded**", "### tare check half")
	contains(t, filepath.Join(dir, "tare-result.xml"), `<failure message="exceeded: throughput of slow`)
	for _, c := range []struct {
		code, undecided string
		want            int
	}{{"3", "fail", 3}, {"3", "warn", 3}, {"4", "fail", 4}, {"4", "warn", 0}, {"6", "warn", 0}, {"0", "fail", 0}} {
		given["undecided"] = c.undecided
		if code, out := step(2, "CODE="+c.code); code != c.want || (c.want == 0 && c.code != "0") != strings.Contains(out, "::warning::") {
			t.Errorf("code %s, %s: exit code %d\n%s", c.code, c.undecided, code, out)
		}
	}
}

// The job of the GitLab template builds tare from a repository, measures and leaves Markdown and JUnit.
func TestGitLabTemplate(t *testing.T) {
	dir, root, env := ciDir(t)
	var template struct {
		Job struct {
			Variables    map[string]string
			BeforeScript []string `yaml:"before_script"`
			Script       []string
			Artifacts    struct{ Paths []string }
		} `yaml:".tare"`
	}
	readYAML(t, filepath.Join(root, "ci/tare.gitlab-ci.yml"), &template)
	job := template.Job
	for name, value := range job.Variables {
		env = append(env, name+"="+value)
	}
	source := filepath.Join(dir, "source")
	head := "git clone --quiet --bare " + root + " " + source + " && git -C " + source + " tag -f " + job.Variables["TARE_VERSION"] + " HEAD >&2 && git -C " + source + " rev-parse HEAD"
	env = append(env, "CI_PROJECT_DIR="+dir, "TARE_SOURCE=file://"+source, "TARE_RUN=half.yaml --budget 2m --until-decided", "TARE_LIMITS=throughput=80%",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	code, out := ciStep(t, dir, head, env...)
	lines := strings.Fields(out)
	if code != 0 || len(lines) == 0 {
		t.Fatal(code, out)
	}
	clone := strings.Join(job.BeforeScript[:len(job.BeforeScript)-1], "\n")
	if code, out := ciStep(t, dir, clone, append(env, "TARE_COMMIT=0123")...); code != 1 || !strings.Contains(out, "and TARE_COMMIT is 0123") {
		t.Errorf("another commit: exit code %d\n%s", code, out)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".tare")); err != nil {
		t.Fatal(err)
	}
	env = append(env, "TARE_COMMIT="+lines[len(lines)-1])
	script := strings.Join(append(job.BeforeScript, job.Script...), "\n") // a runner joins them
	if code, out := ciStep(t, dir, script, env...); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	contains(t, filepath.Join(dir, "tare.md"), "| slow | throughput |", "**pass**")
	contains(t, filepath.Join(dir, "tare.xml"), `failures="0" errors="0"`)
	for _, path := range job.Artifacts.Paths {
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
			t.Error(err)
		}
	}
}

// What is meant to be copied names a version, and what runs with rights on a host the digest of its image. A second
// kubectl create of the Job is another Job.
func TestTemplatesNameAVersion(t *testing.T) {
	var job struct {
		Metadata struct {
			Name         string
			GenerateName string `yaml:"generateName"`
		}
	}
	readYAML(t, "../../docs/job.yaml", &job)
	if job.Metadata.Name != "" || job.Metadata.GenerateName == "" {
		t.Errorf("%+v", job)
	}
	for path, want := range map[string]string{"docs/job.yaml": "@sha256:", "ci/tare.gitlab-ci.yml": "TARE_VERSION: v"} {
		b, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil || !strings.Contains(string(b), want) || strings.Contains(string(b), ":latest") {
			t.Errorf("%s: %v\n%s", path, err, b)
		}
	}
}
