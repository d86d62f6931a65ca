package remedy

import (
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/record"
)

func seccomp() Remedy {
	return Remedy{
		Name: "seccomp-off", Does: "system calls are not filtered",
		For:   []record.LossCause{record.LossSeccomp},
		Gives: record.Say("gives_seccomp"), Part: 0.8, Sets: "seccomp",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.Seccomp = environment.Unconfined
			t := change(a, record.OnLoad, record.KeySeccomp, a.Seccomp, l.Arm.Seccomp)
			return t, l.Can.Container && l.Arm.Seccomp != environment.Unconfined
		},
	}
}
