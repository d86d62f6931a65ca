package proc

import "bytes"

// NFSOps are the counters of requests to an NFS server since the mount, of one kind or of all
// kinds. Times are sums in s.
type NFSOps struct {
	Requests, Sent          float64 // Sent includes retransmissions
	BytesSent, BytesGot     float64
	Queued, Answered, Taken float64 // until it was sent; from there to the answer; both and the processing of the answer
}

// NFSStats parses the text of mountstats for the NFS mount at a point: all[0] becomes the sum
// over all kinds of requests, all[i+1] the counters of names[i] ("WRITE"). A text that is cut
// off, or has no such mount, is an error.
func NFSStats(text []byte, point string, names []string, all []NFSOps) error {
	clear(all)
	text = nfsMount(text, point)
	at := bytes.Index(text, []byte("per-op statistics\n"))
	if at < 0 {
		return malformed("mountstats without NFS on " + point)
	}
	_, text, _ = cutLine(text[at:])
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		if !whole {
			return malformed("mountstats")
		}
		text = rest
		name, fields := cutField(line)
		if len(name) == 0 {
			break // an empty line ends the mount
		}
		if name[len(name)-1] != ':' {
			break // "device" of the next mount
		}
		var n [8]float64
		fieldsInto(fields, n[:])
		ops := NFSOps{n[0], n[1], n[3], n[4], n[5] / 1e3, n[6] / 1e3, n[7] / 1e3}
		if ops.Taken != ops.Taken || ops.Requests != ops.Requests { // NaN
			return malformed("mountstats")
		}
		all[0].add(ops)
		for i, want := range names {
			if string(name[:len(name)-1]) == want {
				all[i+1].add(ops)
			}
		}
	}
	return nil
}

func (o *NFSOps) add(p NFSOps) {
	o.Requests, o.Sent = o.Requests+p.Requests, o.Sent+p.Sent
	o.BytesSent, o.BytesGot = o.BytesSent+p.BytesSent, o.BytesGot+p.BytesGot
	o.Queued, o.Answered, o.Taken = o.Queued+p.Queued, o.Answered+p.Answered, o.Taken+p.Taken
}

// nfsMount is the text from the line of a mount on. A later mount on the same point hides the
// earlier.
func nfsMount(text []byte, point string) (found []byte) {
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		if !whole {
			break
		}
		if onPoint(line, point) {
			found = text
		}
		text = rest
	}
	return found
}

// onPoint parses "device SOURCE mounted on POINT with fstype nfs4 statvers=1.1", with blanks
// escaped.
func onPoint(line []byte, point string) bool {
	if !bytes.HasPrefix(line, []byte("device ")) {
		return false
	}
	var f [8][]byte
	for i := range f {
		f[i], line = cutField(line)
	}
	return string(f[2]) == "mounted" && bytes.HasPrefix(f[7], []byte("nfs")) &&
		(string(f[4]) == point || bytes.IndexByte(f[4], '\\') >= 0 && unescape(string(f[4])) == point)
}
