package fio

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

const good = `; the published line
[global]
ioengine=libaio
iodepth = 128
direct=1
size=2m

# two kinds of work
[randrw]
readwrite=randrw
blocksize=4k
runtime=60
group_reporting

[log]
rw=write
bs=512
fdatasync=1
filename=log
`

func TestParse(t *testing.T) {
	j, err := ParseJob([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	const want = "[global]\nioengine=libaio\niodepth=128\ndirect=1\nsize=2m\n[randrw]\nrw=randrw\nbs=4k\n[log]\nrw=write\nbs=512\nfdatasync=1\nfilename=log\n"
	if got := string(j.Text()); got != want {
		t.Errorf("%s", got)
	}
	again, err := ParseJob(j.Text())
	if err != nil || string(again.Text()) != want {
		t.Errorf("its own text is not read again: %v", err)
	}
	w := string(j.Window("/data/a:b", 1500*time.Millisecond, 300*time.Millisecond))
	for _, line := range []string{"runtime=1500000us", "ramp_time=300000us", `directory=/data/a\:b`, "time_based=1", "invalidate=0", "thread=1"} {
		if strings.Count(w, line+"\n") != 2 {
			t.Errorf("%s is not in both jobs: %s", line, w)
		}
	}
	if strings.Contains(string(j.Window("/d", time.Second, 0)), "ramp_time") {
		t.Error("a ramp without a discard")
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{
		good:                                  4 << 20,
		"[a]\nsize=1G\nnumjobs=3":             3 << 30,
		"[a]\nsize=1G\nnumjobs=3\nfilename=x": 1 << 30,
		"[global]\nsize=1m\n[a]\n[b]\nsize=3KiB\nnumjobs=2": 1<<20 + 6<<10,
		"[a]\nfilesize=4k-8kb\nnrfiles=10":                  80 << 10,
		"[a]\nsize=10%":                                     -1,
		"[a]\nsize=20z":                                     -1,
		"[a]\nsize=9000000p":                                -1,
		"[a]\nsize=1p\nnumjobs=9999999":                     -1,
	} {
		j, err := ParseJob([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := j.Bytes(); ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d %v, want %d", text, n, ok, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, says := range map[string]string{
		"":                                        "no [job]",
		"[global]\nsize=1m":                       "no [job]",
		"rw=read":                                 "before the first",
		"[a]\nrw=read":                            "no size",
		"[a]\nsize=1m\nfilename=/dev/sda":         "device",
		"[a]\nsize=1m\nfilename=/etc/passwd":      "plain name",
		"[a]\nsize=1m\nfilename=../x":             "plain name",
		"[a]\nsize=1m\nfilename=a:b":              "plain name",
		"[a]\nsize=1m\nfilename=-":                "plain name",
		"[a]\nsize=1m\ndirectory=/":               "data directory",
		"[a]\nsize=1m\nexec_prerun=rm -rf /":      "other programs",
		"[a]\nsize=1m\nioengine=rbd":              "ioengine",
		"[a]\nsize=1m\nioengine=external:/x.so":   "ioengine",
		"[a]\nsize=1m\nrw=randtrim":               "rw",
		"[a]\nsize=1m\nstonewall":                 "steady",
		"[a]\nsize=1m\nioscheduler=none":          "settings of the host",
		"[a]\nsize=1m\nio_dept=3":                 `"iodepth"`,
		"[a]\nsize=1m\ninclude other.fio":         "other files",
		"[a]\nsize=1m\ninclude\tother.fio":        "other files",
		"[a]\nsize=$HOME":                         "variables",
		"[a\nsize=1m":                             "name of a job",
		"[]\nsize=1m":                             "name of a job",
		"[a]\nsize=1m\nwrite_lat_log=/etc/x":      "outside",
		"[a]\nsize=1m\nallow_mounted_write=1":     "device",
		"[a]\nsize=1m\niomem=mmaphuge:/dev/x":     "no option",
		"[global]\n[a/../../b]\nsize=1m\nrw=read": "name of a job",
	} {
		_, err := ParseJob([]byte(text))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q in it", text, err, says)
		}
		if err != nil && strings.Count(text, "\n") > 1 && !strings.Contains(err.Error(), "job") {
			t.Errorf("%q: %v does not say where", text, err)
		}
	}
}

// fio stays in the data directory with every accepted job file.
func FuzzJob(f *testing.F) {
	f.Add(good)
	f.Add("[a]\nsize=1\nfilename=x")
	f.Fuzz(func(t *testing.T, text string) {
		j, err := ParseJob([]byte(text))
		if err != nil {
			return
		}
		out := string(j.Window("/data", time.Second, 0))
		for line := range strings.Lines(out) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if name == "directory" && value != "/data" || name == "filename" && strings.ContainsAny(value, "/:") ||
				strings.HasPrefix(name, "exec") || strings.HasPrefix(name, "include") {
				t.Fatalf("%q lets %q through", text, line)
			}
		}
		if again, err := ParseJob(j.Text()); err != nil || string(again.Text()) != string(j.Text()) {
			t.Fatalf("%q is not read again: %v", j.Text(), err)
		}
	})
}

// fio accepts the written job files, and makes complete files and no others.
func TestFioTakesIt(t *testing.T) {
	path := testneed.Tool(t, Program)
	banner, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Identify(string(banner)); err != nil {
		t.Fatal(err)
	}
	j, err := ParseJob([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, text := range [][]byte{j.LayOut(dir), j.Window(dir, 50*time.Millisecond, 0)} {
		cmd := exec.Command(path, "--output-format=json", "-")
		cmd.Stdin, cmd.Dir = strings.NewReader(string(text)), t.TempDir()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, text)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 2 {
			t.Fatalf("files %v", files)
		}
		for _, f := range files {
			if st, err := os.Stat(f); err != nil || st.Size() != 2<<20 {
				t.Errorf("%s has %d bytes", f, st.Size())
			}
		}
	}
}

func TestIdentify(t *testing.T) {
	for text, ok := range map[string]bool{
		"fio-3.33\n": true, "fio-3.36-117-gb2403": true, "fio-3.18": true, "fio-3.17": false, "fio-2.21": false, "flexible": false, "": false,
	} {
		if v, err := Identify(text); (err == nil) != ok || ok && v == "" {
			t.Errorf("%q: %q %v", text, v, err)
		}
	}
}
