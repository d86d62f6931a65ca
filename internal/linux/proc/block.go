package proc

import (
	"bytes"
	"math"
)

// IO is cumulative block input and output: bytes and operations.
type IO struct{ ReadBytes, WriteBytes, Reads, Writes float64 }

// IOStat reads io.stat of a group of version 2 and adds its devices up. A group
// that did none has an empty file, which is zero. A stacked device (dm, md, loop)
// counts beside the one under it. A device may stand there without numbers.
func IOStat(text []byte) (IO, error) {
	var io IO
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		if !whole {
			return IO{}, malformed("io.stat")
		}
		text = rest
		_, line = cutField(line)
		if !io.add(line) {
			return IO{}, malformed("io.stat")
		}
	}
	return io, nil
}

// add adds the fields of one device.
func (io *IO) add(line []byte) bool {
	for {
		var f []byte
		f, line = cutField(line)
		if len(f) == 0 {
			return true
		}
		i := bytes.IndexByte(f, '=')
		if i < 0 {
			continue
		}
		var to *float64
		switch string(f[:i]) {
		case "rbytes":
			to = &io.ReadBytes
		case "wbytes":
			to = &io.WriteBytes
		case "rios":
			to = &io.Reads
		case "wios":
			to = &io.Writes
		default:
			continue
		}
		n, ok := Uint(f[i+1:])
		if !ok {
			return false
		}
		*to += float64(n)
	}
}

// Blkio reads a file of the kind of blkio.throttle.io_service_bytes (version 1),
// lines of "8:0 Read 4096", and adds the devices up. The line "Total" at the end
// must be there: without it the text was cut off.
func Blkio(text []byte) (read, write float64, err error) {
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		text = rest
		device, line := cutField(line)
		op, line := cutField(line)
		if !whole || math.IsNaN(read+write) {
			break
		}
		if string(device) == "Total" {
			return read, write, nil
		}
		value, _ := cutField(line)
		switch string(op) {
		case "Read":
			read += number(value)
		case "Write":
			write += number(value)
		}
	}
	return math.NaN(), math.NaN(), malformed("blkio file")
}

// Disk is the cumulative input and output of a block device. Flushes, the write
// barriers that a sync sends, and their time are NaN before Linux 5.5.
type Disk struct {
	IO
	Flushes float64
	// The times are those of all requests that have ended, in s.
	ReadTime, WriteTime, FlushTime float64
	InFlight                       float64 // requests that have not ended now
}

// DiskStat reads /sys/block/DEVICE/stat: the numbers of its line in
// /proc/diskstats, without the kernel writing out those of all other devices.
func DiskStat(text []byte) (Disk, error) {
	const sector, milli = 512, 1e-3
	line, _, whole := cutLine(text)
	var f [17]float64
	fieldsInto(line, f[:])
	d := Disk{
		IO: IO{Reads: f[0], ReadBytes: f[2] * sector, Writes: f[4], WriteBytes: f[6] * sector}, Flushes: f[15],
		ReadTime: f[3] * milli, WriteTime: f[7] * milli, FlushTime: f[16] * milli, InFlight: f[8],
	}
	if !whole || math.IsNaN(d.Reads+d.ReadBytes+d.Writes+d.WriteBytes) {
		missing(f[:])
		return Disk{IO{f[0], f[0], f[0], f[0]}, f[0], f[0], f[0], f[0], f[0]}, malformed("stat of a block device")
	}
	return d, nil
}
