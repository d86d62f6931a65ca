package proc

import (
	"bytes"
	"math"
)

// IO is cumulative block I/O in bytes and operations.
type IO struct{ ReadBytes, WriteBytes, Reads, Writes float64 }

// IOStat parses io.stat of a group of version 2 and adds up its devices. The file of a group
// without I/O is empty, which is zero. I/O on a stacked device (dm, md, loop) counts twice:
// there and on the device below. A device may be listed without numbers.
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

// add adds one line, the numbers of a device.
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

// Blkio parses a file like blkio.throttle.io_service_bytes (version 1), with lines as "8:0 Read
// 4096", and adds up the devices. The text must end in the line "Total"; without it the text
// was cut off.
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

// Disk is the cumulative I/O of a block device. Flushes are the cache flushes that a sync
// sends; their number and time are NaN before Linux 5.5.
type Disk struct {
	IO
	Flushes float64
	// The times are sums over all completed requests, in s.
	ReadTime, WriteTime, FlushTime float64
	InFlight                       float64 // requests in flight now
}

// DiskStat parses /sys/block/DEVICE/stat. It has the numbers of the device's line in
// /proc/diskstats, for which the kernel would format all devices.
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
