package kubefio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/testing/formattest"
)

// readers by the file of testdata.
var readers = map[string]observed.Reader{"dbench": Dbench, "kbench": Kbench, "kubestr": Kubestr}

// described describes the loads of a text by arm, name, settings and figures.
func described(r observed.Reader, b []byte) (out []string) {
	runs, _, err := r.Kinds[0].Read("", bytes.NewReader(b))
	for _, x := range runs {
		s := strings.TrimSpace(x.Arm + " " + x.Sub)
		for _, l := range x.Load {
			s += "; " + l.Name + " " + l.Got
		}
		x.Finish()
		for _, f := range x.Figures {
			v, _ := f.Total.Get()
			s += fmt.Sprintf("; %s %.6g", f.Metric, v)
		}
		out = append(out, s)
	}
	if err != nil {
		out = append(out, "error: "+err.Error())
	}
	return out
}

// The samples follow the programs' formats.
func TestSummaries(t *testing.T) {
	for name, want := range map[string][]string{
		"dbench": {"random, IOPS; read_iops 75700; write_iops 59700", "random, bandwidth; read_bandwidth 5.48405e+08; write_bandwidth 5.24288e+08",
			"random, latency; read_latency_mean 0.00018307; write_latency_mean 7.691e-05", "sequential, bandwidth; read_bandwidth 5.62037e+08; write_bandwidth 5.36871e+08",
			"mixed random, IOPS; read_iops 43100; write_iops 14400"},
		"kbench": {"random, IOPS; size 30 GiB; quick mode disabled; read_iops 98368; write_iops 89200",
			"sequential, IOPS; size 30 GiB; quick mode disabled; read_iops 108513; write_iops 107636",
			"random, bandwidth; size 30 GiB; quick mode disabled; read_bandwidth 5.55466e+08; write_bandwidth 5.26835e+08",
			"sequential, bandwidth; size 30 GiB; quick mode disabled; read_bandwidth 5.65301e+08; write_bandwidth 5.33842e+08",
			"random, latency; size 30 GiB; quick mode disabled; read_latency_mean 9.7222e-05; write_latency_mean 4.4548e-05",
			"sequential, latency; size 30 GiB; quick mode disabled; read_latency_mean 4.0483e-05; write_latency_mean 4.469e-05"},
		"kbench-comparison": {"Local-Path random, IOPS; size 30 GiB; quick mode disabled; read_iops 98368; write_iops 89200",
			"Longhorn random, IOPS; size 30 GiB; quick mode disabled; read_iops 28192; write_iops 15513",
			"Local-Path sequential, IOPS; size 30 GiB; quick mode disabled; read_iops 108513; write_iops 107636",
			"Longhorn sequential, IOPS; size 30 GiB; quick mode disabled; read_iops 51024; write_iops 26010",
			"Local-Path random, latency; size 30 GiB; quick mode disabled; read_latency_mean 9.7222e-05; write_latency_mean 4.4548e-05",
			"Longhorn random, latency; size 30 GiB; quick mode disabled; read_latency_mean 0.000431222; write_latency_mean 0.000501012"},
		"kubestr": {"read_iops; test default-fio; size of the volume 100Gi; options ioengine=libaio verify=0 direct=1 gtod_reduce=1; bs 4 KiB; size 2 GiB; iodepth 64; rw randread; read_iops 2041.59; read_bandwidth 8.37939e+06",
			"write_iops; test default-fio; size of the volume 100Gi; options ioengine=libaio verify=0 direct=1 gtod_reduce=1; bs 4 KiB; size 2 GiB; iodepth 64; rw randwrite; write_iops 1030.23; write_bandwidth 4.23629e+06"},
	} {
		b := formattest.Read(t, filepath.Join("testdata", name+".txt"))
		tool, _, _ := strings.Cut(name, "-")
		for _, end := range []string{"\n", "\r\n"} {
			if got := described(readers[tool], bytes.ReplaceAll(b, []byte("\n"), []byte(end))); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"Random Read/Write IOPS: 1234/987. BW: 4912KiB/s / 3900kB/s\n": "random, IOPS; read_iops 1234; write_iops 987\nrandom, bandwidth; read_bandwidth 5.02989e+06; write_bandwidth 3.9e+06",
		"Random Read/Write IOPS: 1234/987. BW: 1.2GiB/s/900MiB/s\n":    "random, IOPS; read_iops 1234; write_iops 987\nrandom, bandwidth; read_bandwidth 1.28849e+09; write_bandwidth 9.43718e+08",
		"Average Latency (msec) Read/Write: 1.5/2.5\n":                 "random, latency; read_latency_mean 0.0015; write_latency_mean 0.0025",
		"Average Latency Read/Write: 183.07(usec) / 1.5(msec)\n":       "random, latency; read_latency_mean 0.00018307; write_latency_mean 0.0015",
		"Average Latency Read/Write:  183.07(usec) / ()\n":             "random, latency; read_latency_mean 0.00018307",
		"Random Read/Write IOPS: /. BW:  / \n":                         "error: no output of dbench in 1 lines; check the file: it is not in a format that is known",
		"Sequential Read/Write: 536MiB/s / \n":                         "sequential, bandwidth; read_bandwidth 5.62037e+08",
		"":                                                             "error: the input is empty; check that the benchmark's output was really written to this file",
	} {
		if got := strings.Join(described(Dbench, []byte(in)), "\n"); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", in, got, want)
		}
	}
}

// Newer summaries of kbench say ops, and have the 99th percentiles of latencies in a summary of their
// own; older ones are in capitals and without commas.
func TestKbenchVersions(t *testing.T) {
	for in, want := range map[string]string{
		"FIO Benchmark Summary\nFor: test_device\nSize: 100M\nQuick Mode: disabled\n====\nIOPS in ops (Read/Write)\n  Random:  15,013 / 8,874\n" +
			"Latency in ns (Read/Write)\n  Random:  298,378 / 419,719\n\n=====\nFIO Benchmark Latency P99 Summary\nFor: test_device\n" +
			"Size: 100M\nQuick Mode: disabled\n====\nLatency in ns (Read/Write)\n  Random:  667,648 / 1,028,096\n": "random, IOPS; size 100 MiB; quick mode disabled; read_iops 15013; write_iops 8874\n" +
			"random, latency; size 100 MiB; quick mode disabled; read_latency_mean 0.000298378; write_latency_mean 0.000419719\n" +
			"random, latency; size 100 MiB; quick mode disabled; read_p99 0.000667648; write_p99 0.0010281",
		"FIO Benchmark Comparsion Summary\nFor: raw vs ext4\nSIZE: 50G\nQUICK MODE: DISABLED\n======\n            raw   vs     ext4    :    Change\n" +
			"IOPS (Read/Write)\n   Random:  96,735 / 89,565   vs    98,135 / 88,990    :   1.45% / -0.64%\n  CPU Idleness:   68%   vs  66%    :  -2%\n": "raw random, IOPS; size 50 GiB; quick mode disabled; read_iops 96735; write_iops 89565\n" +
			"ext4 random, IOPS; size 50 GiB; quick mode disabled; read_iops 98135; write_iops 88990",
	} {
		if got := strings.Join(described(Kbench, []byte(in)), "\n"); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", in, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, r := range readers {
			formattest.Same(t, func() any { return described(r, in) })
		}
	})
}

// kbench of July 2021 wrote a colon behind the sections and the unit behind each latency.
func TestEarlyKbench(t *testing.T) {
	text := "=====================\nFIO Benchmark Summary\nFor: disk-b\nSIZE: 20g\nQUICK MODE: DISABLED\n=====================\n\nIOPS (Read/Write):\nRandom:         30,100  / 20,200\n\n" +
		"Latency (Read/Write):\nRandom:         220,500 ns / 160,700 ns\nSequential:     51,100 ns / 56,200 ns\n"
	runs, warnings, err := Kbench.Kinds[0].Read("", strings.NewReader(text))
	if err != nil || len(warnings) > 0 || len(runs) != 3 {
		t.Fatal(err, warnings, runs)
	}
	runs[1].Finish()
	if x, ok := runs[1].Figures[0].Total.Get(); !ok || x < 220.4e-6 || x > 220.6e-6 {
		t.Errorf("%+v", runs[1].Figures)
	}
}
