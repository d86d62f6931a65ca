package handover

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/record"
)

// service is a key of a service in Compose's file.
func service(value func(string) any, path ...string) form {
	return form{add: func(d *document, _ Thing, v string) { d.set(value(v), append([]string{"service"}, path...)...) }}
}

// orReset takes keys out of the user's own file.
func (f form) orReset(keys ...string) form {
	f.unset = func(d *document) {
		for _, k := range keys {
			d.set(reset(), "service", k)
		}
	}
	return f
}

// reset is Compose's tag, since 2.24.
func reset() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!reset", Value: "null"} }

func composeKeys() map[record.SettingKey]form {
	word := func(v string) any { return v }
	number := func(v string) any { x, _ := strconv.ParseFloat(v, 64); return x }
	return map[record.SettingKey]form{
		record.KeyCPUIdle: no(noComposeKey), record.KeyCPUBurst: no(noComposeKey), record.KeyMemoryHigh: no(noComposeKey),
		record.KeyCPUWeight: service(func(v string) any { return number(shares(v)) }, "cpu_shares").orReset("cpu_shares").showing(converted),
		record.KeyCPUMax:    service(number, "cpus").orReset("cpus").noting(composeDeploy),
		record.KeyCPUSet:    service(word, "cpuset"),
		record.KeySched:     no(noSched),
		record.KeyIOWeight: {add: func(d *document, _ Thing, v string) {
			d.set(number(ioWeight(d, v)), "service", "blkio_config", "weight")
		}},
		record.KeyIOBytes: {add: func(d *document, x Thing, rate string) {
			for _, way := range []string{"device_read_bps", "device_write_bps"} {
				d.also(map[string]any{"path": x.Device, "rate": number(rate)}, "service", "blkio_config", way)
			}
		}},
		record.KeyMemoryMax: service(func(v string) any { return v + "b" }, "mem_limit").orReset("mem_limit").
			noting(composeDeploy),
		record.KeyQoSLevel: no(noQoS),
		record.KeyNetwork: {add: func(d *document, _ Thing, mode string) {
			d.set(mode, "service", "network_mode")
			d.set(reset(), "service", "networks")
			d.set(reset(), "service", "ports")
		}},
		record.KeyConnect: {add: func(d *document, x Thing, _ string) {
			d.also(socketVolume(x)+":"+x.Socket, "service", "volumes")
			d.set(map[string]any{}, "volumes", socketVolume(x))
		}, note: shareSocket},
		record.KeyVolume: {add: func(d *document, x Thing, v string) {
			d.also(onto(d, x, v)+":"+x.Data, "service", "volumes")
		}, note: copyData},
		record.KeySeccomp: {add: func(d *document, _ Thing, profile string) {
			d.also("seccomp:"+profile, "service", "security_opt")
		}},
	}
}

// compose is a file beside the user's own, which Compose merges.
func compose() Target {
	t := Target{Name: "compose", on: onThing, forms: composeKeys(), others: notInContainer}
	t.whole = func(x Thing, c change) Snippet {
		file := map[string]any{"services": map[string]any{x.Name: c.tree["service"]}}
		if volumes, ok := c.tree["volumes"]; ok {
			file["volumes"] = volumes
		}
		return Snippet{
			File: "compose.tare.yaml", Lines: yamlLines(file),
			Then:  []string{"docker compose --file compose.yaml --file compose.tare.yaml up --detach " + x.Name},
			Check: c.inContainer(x, "docker inspect", "$(docker compose ps --quiet "+x.Name+")"),
			Undo:  []string{"docker compose up --detach " + x.Name, "rm compose.tare.yaml"},
		}
	}
	return t
}
