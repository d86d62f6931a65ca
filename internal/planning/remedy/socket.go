package remedy

import "github.com/tarelab/tare/record"

func socket() Remedy {
	return Remedy{
		Name: "socket", Does: "clients run beside the server and use its Unix socket",
		For:   []record.LossCause{record.LossVeth, record.LossNAT},
		Gives: record.Say("gives_clients_elsewhere"), Part: 0.85, Sets: "network",
		On: func(l Lost) (Trial, bool) {
			t := change(l.set("connect", "socket", "client", "inside"), record.OnLoad, record.KeyConnect, "socket", "")
			return t, l.Params["connect"] == "tcp" && !l.Can.Pod
		},
	}
}
