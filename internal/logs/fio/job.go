package fio

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/units"
)

// ParseJob reads a job file. It refuses options that could do harm outside of a data directory, options
// that make more than one steady load, and unknown ones.
func ParseJob(text []byte) (*JobFile, error) {
	j := &JobFile{}
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if i := strings.IndexAny(line, ";#"); i == 0 {
			continue
		}
		if line == "" {
			continue
		}
		if err := j.line(line); err != nil {
			return nil, fmt.Errorf("job file, line %d: %w", n+1, err)
		}
	}
	return j, j.whole()
}

func (j *JobFile) line(line string) error {
	if strings.ContainsAny(line, "\x00\r$") {
		return fmt.Errorf("%q: variables and control characters are not passed on", line)
	}
	if inside, ok := strings.CutPrefix(line, "["); ok {
		name, ok := strings.CutSuffix(inside, "]")
		if !ok || name == "" || strings.ContainsAny(name, "[]/\\") {
			return fmt.Errorf("%q is not the name of a job", line)
		}
		j.sections = append(j.sections, section{name: name})
		return nil
	}
	if word, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " "); word == "include" {
		return fmt.Errorf("%q: other files are not read; put them into this one", line)
	}
	if len(j.sections) == 0 {
		return fmt.Errorf("%q stands before the first [job]", line)
	}
	name, value, _ := strings.Cut(line, "=")
	o := jobOption{strings.TrimSpace(name), strings.TrimSpace(value)}
	if full, ok := synonyms()[o.name]; ok {
		o.name = full
	}
	if err := o.check(); err != nil {
		return err
	}
	if overridden(o.name) {
		return nil
	}
	last := &j.sections[len(j.sections)-1]
	last.options = append(last.options, o)
	return nil
}

// whole checks that the file has a job and that every job has a size.
func (j *JobFile) whole() error {
	jobs := 0
	sized := false
	for _, s := range j.sections {
		in := has(s.options, "size") || has(s.options, "filesize")
		if s.name == global {
			sized = sized || in
			continue
		}
		jobs++
		if !sized && !in {
			return fmt.Errorf("job %s of the job file has no size: a file of tare's own has no size until it is given one", s.name)
		}
	}
	if jobs == 0 {
		return fmt.Errorf("the job file has no [job]")
	}
	return nil
}

// Bytes returns the size of all jobs' files. known is false if only fio can tell: for a size in percent or
// in blocks of the device, or a calculation.
func (j *JobFile) Bytes() (bytes int64, known bool) {
	var all []jobOption
	for _, s := range j.sections {
		if s.name == global {
			all = append(all, s.options...)
			continue
		}
		own := append(slices.Clone(all), s.options...)
		n, ok := jobBytes(own)
		if !ok || n > 1<<62-bytes {
			return 0, false
		}
		bytes += n
	}
	return bytes, true
}

// jobBytes returns the size of one job's files. Later options replace earlier ones.
func jobBytes(options []jobOption) (int64, bool) {
	last := func(name string) string {
		value := ""
		for _, o := range options {
			if o.name == name {
				value = o.value
			}
		}
		return value
	}
	size, ok := amount(last("size"))
	if last("size") == "" { // filesize is the size of each file
		_, most, ranged := strings.Cut(last("filesize"), "-")
		if !ranged {
			most = last("filesize")
		}
		size, ok = amount(most)
		size, ok = times(size, last("nrfiles"), ok)
	}
	if last("filename") != "" {
		return size, ok // the jobs share it
	}
	return times(size, last("numjobs"), ok)
}

// times multiplies a size by a count; an empty count is one.
func times(size int64, count string, ok bool) (int64, bool) {
	if count == "" {
		return size, ok
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if !ok || err != nil || n < 1 || size > (1<<62)/n {
		return 0, false
	}
	return size * n, true
}

// amount reads a size in fio's spelling.
func amount(s string) (int64, bool) {
	n, err := units.Printed().Whole(s)
	return n, err == nil && n > 0 && n <= 1<<62
}

func (o jobOption) check() error {
	if why, ok := refused()[o.name]; ok {
		return fmt.Errorf("%s is not passed on: %s", o.name, why)
	}
	if !slices.Contains(passed(), o.name) && !overridden(o.name) {
		return hint.New(fmt.Errorf("%q is no option that tare passes on%s", o.name, hint.DidYouMean(o.name, passed())),
			"leave it out")
	}
	switch o.name {
	case "filename":
		return plainName(o.value)
	case "ioengine":
		if !slices.Contains(Engines(), o.value) {
			return fmt.Errorf("ioengine %q: want one of %s", o.value, strings.Join(Engines(), ", "))
		}
	case "rw":
		pattern, _, _ := strings.Cut(o.value, ":")
		if !slices.Contains(Patterns(), pattern) {
			return fmt.Errorf("rw %q: want one of %s", o.value, strings.Join(Patterns(), ", "))
		}
	}
	return nil
}

// plainName refuses names of devices and paths out of the data directory.
func plainName(name string) error {
	switch {
	case strings.HasPrefix(name, "/dev/"):
		return fmt.Errorf("filename=%s: tare never lets fio write to a device, mounted or not: it touches only files that it made", name)
	case name == "" || name == "-" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\:`):
		return fmt.Errorf("filename=%s: want a plain name; the file is made in the arm's data directory", name)
	}
	return nil
}

// overridden reports options that tare sets itself, or that do not matter here: they are dropped.
func overridden(name string) bool {
	return slices.Contains([]string{
		"time_based", "runtime", "ramp_time", "thread", "unlink", "create_only", "overwrite", "lat_percentiles",
		"clat_percentiles", "slat_percentiles", "percentile_list", "group_reporting", "name", "description",
	}, name)
}

func synonyms() map[string]string {
	return map[string]string{
		"readwrite": "rw", "blocksize": "bs", "bs_range": "bsrange", "nr_files": "nrfiles", "timeout": "runtime", "file_size": "filesize",
		"blocksize_range": "bsrange", "blocksize_split": "bssplit", "fill_fs": "fill_device",
	}
}

// refused has options that are common in job files, with the reason why tare refuses them.
func refused() map[string]string {
	return map[string]string{
		"directory": inDataDir, "opendir": reachesOutside, "filename_format": reachesOutside, "read_iolog": reachesOutside,
		"write_iolog": reachesOutside, "write_bw_log": reachesOutside, "write_lat_log": reachesOutside, "write_iops_log": reachesOutside, "write_hist_log": reachesOutside,
		"allow_mounted_write": neverDevice, "fill_device": fullDisk,
		"exec_prerun": startsPrograms, "exec_postrun": startsPrograms, "exec": startsPrograms,
		"ioscheduler": changesHost, "cgroup": changesHost, "cgroup_weight": changesHost, "cgroup_nodelete": changesHost,
		"stonewall": notSteady, "wait_for_previous": notSteady, "wait_for": notSteady, "startdelay": notSteady, "exitall": notSteady, "new_group": notSteady,
		"loops": notSteady, "io_size": notSteady, "number_ios": notSteady, "steadystate": notSteady, "ss": notSteady, "thinktime_iotime": notSteady,
		"gtod_reduce": latenciesAlike, "disable_lat": latenciesAlike,
		"uid": sameUser, "gid": sameGroup,
	}
}

// passed lists the options that only shape a load on files.
func passed() []string {
	return []string{
		"rw", "bs", "bsrange", "bssplit", "bs_unaligned", "blockalign", "ba", "bs_is_seq_rand", "size", "filesize", "nrfiles", "openfiles",
		"file_service_type", "filename", "numjobs", "ioengine", "iodepth", "iodepth_batch", "iodepth_batch_submit",
		"iodepth_batch_complete", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low", "io_submit_mode", "serialize_overlap",
		"direct", "buffered", "atomic", "sync", "fsync", "fdatasync", "sync_file_range", "end_fsync", "fsync_on_close", "write_barrier",
		"rwmixread", "rwmixwrite", "rwmixcycle", "random_distribution", "percentage_random", "norandommap", "softrandommap", "random_generator",
		"randrepeat", "allrandrepeat", "randseed", "unified_rw_reporting", "kb_base", "unit_base", "rate", "rate_min", "rate_iops", "rate_iops_min",
		"rate_process", "rate_cycle", "thinktime", "thinktime_spin", "thinktime_blocks", "thinktime_blocks_type", "latency_target",
		"latency_window", "latency_percentile", "max_latency", "fallocate", "fadvise_hint", "offset", "offset_increment", "offset_align", "invalidate",
		"refill_buffers", "scramble_buffers", "zero_buffers", "buffer_compress_percentage", "buffer_compress_chunk",
		"dedupe_percentage", "dedupe_mode", "dedupe_working_set_percentage", "hipri", "hipri_percentage", "fixedbufs", "registerfiles",
		"sqthread_poll", "sqthread_poll_cpu", "nonvectored", "uncached", "nowait", "force_async", "userspace_reap", "iomem_align", "lockfile",
		"cpus_allowed", "cpus_allowed_policy", "cpumask", "nice", "prio", "prioclass",
		"clocksource", "create_serialize", "create_fsync", "create_on_open",
	}
}
