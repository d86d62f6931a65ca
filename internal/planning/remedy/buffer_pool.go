package remedy

import (
	"strconv"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/record"
)

// rowBytes is about what a row of sysbench takes in InnoDB, with its index.
const rowBytes = 400

func bufferPool() Remedy {
	return Remedy{
		Name: "buffer-pool", Does: "InnoDB's buffer pool holds the data and fits into the memory",
		For:   []record.LossCause{record.LossServer, record.LossVolume, record.LossNeighbourDisk, record.LossMemoryLimit, record.LossPod, record.LossOverlay},
		Gives: record.Say("gives_memory"), Part: 0.7, Sets: "buffer pool",
		On: func(l Lost) (Trial, bool) {
			now := workload.Bytes(l.Params, "buffer_pool")
			want := l.cache(whole(l.Params["tables"])*whole(l.Params["size"])*rowBytes, now)
			t := change(l.set("buffer_pool", strconv.FormatInt(want>>20, 10)+"M"), record.OnServer, record.KeyBufferPool,
				strconv.FormatInt(want, 10), strconv.FormatInt(now, 10))
			t.Gives = memory(want - now)
			return t, now > 0 && want > 0 && want != now
		},
	}
}

// whole is a whole number; 0: it is none.
func whole(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// leastCache is the smallest cache that is proposed, in bytes.
const leastCache = 128 << 20

// cache is the size of a server's cache, in bytes, that holds the data and takes at most half of the
// memory; 0: the present one does both.
func (l Lost) cache(data, now int64) int64 {
	most := int64(l.Memory / 2)
	if l.Arm.MemoryBytes > 0 {
		most = l.Arm.MemoryBytes / 2
	}
	want := int64(leastCache)
	for want < data+data/4 {
		want *= 2
	}
	switch {
	case most == 0 && now >= want, now >= want && now <= most:
		return 0
	case most > 0:
		want = min(want, most>>20<<20)
	}
	return want
}
