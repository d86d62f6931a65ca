package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Arms of volumes that differ at the end only are told apart by what differs, and no name is given twice.
func TestNamesOfVolumeArms(t *testing.T) {
	for _, c := range []struct{ words, want []string }{
		{[]string{"nfs:10.9.0.1:/x,vers=4.2,proto=tcp", "nfs:10.9.0.1:/x,vers=4.2,proto=rdma,port=20049"}, []string{"nfs-proto-tcp", "nfs-proto-rdma-port-20049"}},
		{[]string{"bind", "nfs:srv:/a", "nfs:srv:/a,nconnect=4"}, []string{"bind", "nfs-srv-a", "nfs-nconnect-4"}},
		{[]string{"loop:ext4", "loop:ext4:noatime", "loop:xfs:noatime"}, []string{"loop-ext4", "loop-ext4-noatime", "loop-xfs-noatime"}},
		{[]string{"nfs:srv:/a,vers=4.2", "nfs:other:/a,vers=4.2"}, []string{"nfs-srv-a-vers-4-2", "nfs-other-a-vers-4-2"}},
		{[]string{"dir:/a/very/long/directory/of/this/host/disk1", "dir:/a/very/long/directory/of/this/host/disk2"}, []string{"dir-a-very-long-dire-of-this-host-disk1", "dir-a-very-long-dire-of-this-host-disk2"}},
	} {
		if got := volumeArms(c.words); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
	name := regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	rapid.Check(t, func(t *rapid.T) {
		option := rapid.SampledFrom([]string{"vers=4.2", "vers=3", "proto=tcp", "proto=rdma", "port=20049", "nconnect=4", "hard", "rsize=1048576"})
		path := rapid.SampledFrom([]string{"nfs:10.9.0.1:/x", "nfs:10.9.0.2:/x", "nfs:filer:/a/very/long/export/of/the/filer/with/many/parts"})
		var words []string
		for range rapid.IntRange(1, 6).Draw(t, "volumes") {
			words = append(words, strings.Join(append([]string{path.Draw(t, "path")}, rapid.SliceOfN(option, 0, 4).Draw(t, "options")...), ","))
		}
		got := volumeArms(words)
		for i, n := range got {
			if !name.MatchString(n) || slices.Contains(got[:i], n) {
				t.Fatalf("%q: %q", words, got)
			}
		}
	})
}
