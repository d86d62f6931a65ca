package remedy

import "github.com/tarelab/tare/record"

// flushMethods are the values of innodb_flush_method that flush log and data, each with the one to try
// instead.
var flushMethods = map[string]string{"O_DIRECT": "fsync", "fsync": "O_DIRECT", "O_DSYNC": "O_DIRECT"}

func flushMethod() Remedy {
	return Remedy{
		Name: "flush-method", Does: "InnoDB flushes the same files in another way",
		For:   []record.LossCause{record.LossVolume, record.LossNeighbourDisk, record.LossOverlay},
		Gives: record.Say("gives_page_cache"), Part: 0.2, Sets: "flush method",
		On: func(l Lost) (Trial, bool) {
			now := l.Params["flush_method"]
			want := flushMethods[now]
			return change(l.set("flush_method", want), record.OnServer, record.KeyFlushMethod, want, now), want != ""
		},
	}
}
