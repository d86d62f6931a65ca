package fio

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Program is the name of the program.
const Program = "fio"

// Engines lists the I/O engines that only use files of this host.
func Engines() []string {
	return []string{"libaio", "io_uring", "psync", "sync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap", "splice"}
}

// Synchronous reports that an engine submits and waits in one call: fio then has no submission latency.
func Synchronous(engine string) bool {
	switch engine {
	case "libaio", "io_uring", "posixaio":
		return false
	}
	return true
}

// Patterns lists the values of rw that work on files.
func Patterns() []string { return []string{"read", "write", "randread", "randwrite", "rw", "randrw"} }

// Reads reports that a pattern reads.
func Reads(rw string) bool { return strings.Contains(rw, "read") || strings.HasSuffix(rw, "rw") }

// Writes reports that a pattern writes.
func Writes(rw string) bool { return strings.Contains(rw, "write") || strings.HasSuffix(rw, "rw") }

var banner = regexp.MustCompile(`^fio-(\d+)\.(\d+)`)

// Identify reads the output of fio --version. A version before 3.18 is an error.
func Identify(text string) (version string, err error) {
	text = strings.TrimSpace(text)
	m := banner.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("unknown version of fio %q", text[:min(len(text), 100)])
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < 3 || major == 3 && minor < 18 { // slat_percentiles
		return "", fmt.Errorf("%s is too old: want fio 3.18 or later", text)
	}
	return strings.TrimPrefix(text, "fio-"), nil
}

// JobFile is a checked job file.
type JobFile struct{ sections []section }

type section struct {
	name    string
	options []jobOption
}

type jobOption struct{ name, value string } // value "": a flag

const global = "global"

// LayOut returns the job file that only makes and fills its files in dir.
func (j *JobFile) LayOut(dir string) []byte {
	return j.text([]jobOption{{"create_only", "1"}, {"overwrite", "1"}}, dir)
}

// Window returns the job file that measures for length after discard, with its files in dir.
func (j *JobFile) Window(dir string, length, discard time.Duration) []byte {
	more := []jobOption{
		{"time_based", "1"}, {"runtime", micros(length)},
		// The page cache keeps the files, as it would in a long run. Direct I/O does not use it.
		{"invalidate", j.value("invalidate", "0")},
		{"overwrite", "1"}, {"lat_percentiles", "1"}, {"clat_percentiles", "1"}, {"slat_percentiles", "1"},
	}
	if discard > 0 {
		more = append(more, jobOption{"ramp_time", micros(discard)})
	}
	return j.text(more, dir)
}

func micros(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) + "us" }

// Text returns the job file.
func (j *JobFile) Text() []byte { return j.text(nil, "") }

// text writes the file. The options in more replace those of every job.
func (j *JobFile) text(more []jobOption, dir string) []byte {
	if dir != "" {
		// A colon separates directories.
		dir = strings.NewReplacer(`\`, `\\`, `:`, `\:`).Replace(dir)
		more = append(more, jobOption{"directory", dir}, jobOption{"thread", "1"}, jobOption{"unlink", "0"})
	}
	var b strings.Builder
	for _, s := range j.sections {
		fmt.Fprintf(&b, "[%s]\n", s.name)
		for _, o := range s.options {
			if !has(more, o.name) {
				b.WriteString(o.line())
			}
		}
		if s.name != global {
			for _, o := range more {
				b.WriteString(o.line())
			}
		}
	}
	return []byte(b.String())
}

func has(options []jobOption, name string) bool {
	for _, o := range options {
		if o.name == name {
			return true
		}
	}
	return false
}

func (o jobOption) line() string {
	if o.value == "" {
		return o.name + "\n"
	}
	return o.name + "=" + o.value + "\n"
}

// value returns the value of an option in the first section that has it, or a default.
func (j *JobFile) value(name, byDefault string) string {
	for _, s := range j.sections {
		for _, o := range s.options {
			if o.name == name {
				return o.value
			}
		}
	}
	return byDefault
}
