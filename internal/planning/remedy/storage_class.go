package remedy

import (
	"strings"

	"github.com/tarelab/tare/record"
)

func storageClass() Remedy {
	return Remedy{
		Name: "storage-class", Does: "the claim of the data has another StorageClass",
		For:   []record.LossCause{record.LossPod, record.LossVolume},
		Gives: "the time to copy the data", Part: 0.4, Sets: "volume",
		On: func(l Lost) (Trial, bool) {
			_, levels := l.levels()
			class, claimed := strings.CutPrefix(levelOf(levels, "volume"), "pvc:")
			return Trial{
				Apply: one(record.OnLoad, record.KeyStorageClass, "CLASS"), Undo: one(record.OnLoad, record.KeyStorageClass, class),
				Not: &record.Left{Reason: record.InProse("the other classes are unknown"), Remedy: record.InProse("measure each: environments with volume=pvc:CLASS; kubectl get storageclass lists them")},
			}, l.Can.Pod && claimed
		},
	}
}
