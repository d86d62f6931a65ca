package sysbench_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	driver "github.com/tarelab/tare/internal/loads/sysbench"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
	"github.com/tarelab/tare/internal/wire"
)

// The conformance suite on a real server, for all parameters that change the processes.
func TestSysbenchConformance(t *testing.T) {
	t.Parallel()
	testneed.Tool(t, "mariadbd")
	testneed.Tool(t, "sysbench")
	for name, more := range map[string]map[string]string{
		"outside":       {},
		"inside":        {"client": "inside", "connect": "socket", "script": "oltp_write_only"},
		"inside by TCP": {"client": "inside", "script": "oltp_point_select", "rate": "500"},
	} {
		fast := map[string]string{"tables": "2", "size": "3000", "threads": "2", "redo_log": "16MiB"}
		for k, v := range more {
			fast[k] = v
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workloadtest.Run(t, driver.Workload{}, fast)
		})
	}
}

func sysbenchStages(t *testing.T, given map[string]string) (workload.Stages, error) {
	t.Helper()
	v, err := workload.Complete(driver.Workload{}, given)
	if err != nil {
		t.Fatal(err)
	}
	return driver.Workload{}.Stages(v)
}

// The parameters are in the tasks.
func TestSysbenchTasks(t *testing.T) {
	s, err := sysbenchStages(t, map[string]string{
		"service": "percona", "server": "/opt/p/bin/mysqld", "script": "oltp_update_index", "threads": "8", "tables": "10", "size": "1000000",
		"options": "--range-size=5 --skip-trx=on", "server_options": "--innodb-io-capacity=2000", "flush_method": "O_DIRECT_NO_FSYNC", "buffer_pool": "1GiB", "rand_type": "pareto",
	})
	if err != nil {
		t.Fatal(err)
	}
	var prepare serve.Prepare
	var server serve.Server
	var client driver.Params
	at := wire.Place{Volume: "/in", HostVolume: "/out", Listen: "198.18.1.2:3306", Dial: "198.18.1.2:3307", Program: "/opt/p/bin/mysqld"}
	for _, task := range []struct {
		args    []string
		command string
		kind    string
		into    any
	}{
		{s.Prepare("/d").Args, serve.PrepareCommand, "percona", &prepare},
		{s.Server(at).Args, serve.Command, "percona", &server},
		{s.Load(at).Args, load.Command, driver.Kind, &client},
	} {
		if len(task.args) != 3 || task.args[0] != task.command || task.args[1] != task.kind {
			t.Fatalf("%q", task.args)
		}
		d := json.NewDecoder(strings.NewReader(task.args[2]))
		d.DisallowUnknownFields()
		if err := d.Decode(task.into); err != nil {
			t.Fatal(err)
		}
	}
	if prepare.Into != "/d" || prepare.Server != "/opt/p/bin/mysqld" || prepare.Sysbench.Rows != 1_000_000 || prepare.Sysbench.Tables != 10 {
		t.Errorf("%+v", prepare)
	}
	if server.Dir != "/in" || server.Program != at.Program || server.Listen != at.Listen || server.Settings["flush_method"] != "O_DIRECT_NO_FSYNC" || server.Connections != 8 ||
		!slices.Equal(server.Options, []string{"--innodb-io-capacity=2000"}) {
		t.Errorf("%+v", server)
	}
	if client.Server.Dir != "/out" || client.Dial != at.Dial || client.Inside || client.RandType != "pareto" || client.Script != "oltp_update_index" ||
		!slices.Equal(client.Options, []string{"--range-size=5", "--skip-trx=on"}) || client.Server.Settings["buffer_pool"] != "1GiB" {
		t.Errorf("%+v", client)
	}
	if s.Threads != 8 || !s.Disk {
		t.Errorf("%d threads, disk: %v", s.Threads, s.Disk)
	}
}

// A load inside the arm starts the same server program itself.
func TestInsideStartsTheProgram(t *testing.T) {
	s, err := sysbenchStages(t, map[string]string{"client": "inside"})
	if err != nil {
		t.Fatal(err)
	}
	var client driver.Params
	task := s.Load(wire.Place{Volume: "/in", Program: "/opt/p/bin/mysqld"})
	if err := json.Unmarshal([]byte(task.Args[2]), &client); err != nil || client.Server.Dir != "/in" || client.Server.Program != "/opt/p/bin/mysqld" {
		t.Errorf("%+v, %v", client, err)
	}
}

func TestSysbenchParams(t *testing.T) {
	for name, values := range map[string][]string{
		"script":         {"/x/mine.lua", "oltp_delete"},
		"options":        {"--skip-trx=on", "--a=1  --b=2"},
		"server_options": {"--innodb-io-capacity=1000"},
		"server":         {"/opt/mysql/bin/mysqld"},
		"rate":           {"0", "12.5"},
	} {
		for _, value := range values {
			if _, err := sysbenchStages(t, map[string]string{name: value}); err != nil {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
	for name, values := range map[string][]string{
		"script":         {"mine.lua", "oltp_common"},
		"options":        {"--threads=3", "--mysql-password=x", "skip-trx"},
		"server_options": {"--datadir=/var/lib/mysql", "--port=3306", "--defaults-file=/etc/my.cnf", "--skip_grant_tables"},
		"server":         {"mysqld", "./mysqld"},
		"rate":           {"-1", "0.0001"},
		"service":        {"oracle"},
	} {
		for _, value := range values {
			if _, err := workload.Complete(driver.Workload{}, map[string]string{name: value}); err == nil {
				t.Errorf("%s=%s was accepted", name, value)
			}
		}
	}
	if _, err := sysbenchStages(t, map[string]string{"connect": "socket"}); err == nil || !strings.Contains(err.Error(), "client=inside") {
		t.Errorf("a socket from outside: %v", err)
	}
	inside, err := sysbenchStages(t, map[string]string{"connect": "socket", "client": "inside", "rate": "100"})
	if err != nil || inside.Server != nil || inside.Metrics[0] != workload.P50 || inside.Disk {
		t.Errorf("%+v, %v", inside, err)
	}
}
