package redis_test

import (
	"testing"

	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/databases/serve"
	driver "github.com/tarelab/tare/internal/loads/redis"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
)

func TestRedis(t *testing.T) {
	t.Parallel()
	_, err := serve.Find(t.Context(), redis.Name, "", "")
	testneed.Feature(t, "redis", err)
	for name, fast := range map[string]map[string]string{
		"outside":               {"keys": "1000", "connections": "3", "size": "100B"},
		"inside, by its socket": {"keys": "1000", "connections": "1", "client": "inside", "connect": "socket", "test": "set", "appendonly": "yes", "appendfsync": "always"},
		"inside, in pipelines":  {"keys": "1000", "client": "inside", "pipeline": "16", "test": "mset", "server_options": "--maxmemory=1gb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workloadtest.Run(t, driver.Workload{}, fast)
		})
	}
}

func TestRedisRefuses(t *testing.T) {
	for _, bad := range []map[string]string{
		{"connect": "socket"},
		{"test": "lrange"},
		{"pipeline": "0"},
		{"size": "0B"},
		{"save": "1"},
		{"server_options": "--port=1"},
		{"server_options": "--io-threads=2"},
		{"server_options": "--maxmemory"},
		{"appendfsync": "sometimes"},
	} {
		v, err := workload.Complete(driver.Workload{}, bad)
		if err == nil {
			_, err = driver.Workload{}.Stages(v)
		}
		if err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
