package remedy

import (
	"strings"

	"github.com/tarelab/tare/record"
)

func storageClass() Remedy {
	return Remedy{
		Name: "storage-class", Does: "the claim of the data has another StorageClass",
		For:   []record.LossCause{record.LossPod, record.LossVolume},
		Gives: record.Say("gives_time_to_copy"), Part: 0.4, Sets: "volume",
		On: func(l Lost) (Trial, bool) {
			_, levels := l.levels()
			class, claimed := strings.CutPrefix(levelOf(levels, "volume"), "pvc:")
			return Trial{
				Apply: one(record.OnLoad, record.KeyStorageClass, "CLASS"), Undo: one(record.OnLoad, record.KeyStorageClass, class),
				Not: &record.Left{Reason: record.Say("classes_unknown"), Remedy: record.Say("measure_each_class")},
			}, l.Can.Pod && claimed
		},
	}
}
