package namespace

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCapabilityNumbersAreTheKernels(t *testing.T) {
	for name, number := range map[string]int{
		"CAP_CHOWN": unix.CAP_CHOWN, "CAP_SETPCAP": unix.CAP_SETPCAP, "CAP_NET_RAW": unix.CAP_NET_RAW,
		"CAP_SYS_ADMIN": unix.CAP_SYS_ADMIN, "CAP_MKNOD": unix.CAP_MKNOD, "CAP_AUDIT_WRITE": unix.CAP_AUDIT_WRITE,
		"CAP_SETFCAP": unix.CAP_SETFCAP, "CAP_SYSLOG": unix.CAP_SYSLOG, "CAP_BPF": unix.CAP_BPF,
		"CAP_CHECKPOINT_RESTORE": unix.CAP_CHECKPOINT_RESTORE,
	} {
		if got := capNumber(name); got != number {
			t.Errorf("%s is %d, want %d", name, got, number)
		}
	}
	if len(capNames) != unix.CAP_LAST_CAP+1 {
		t.Errorf("%d names, want %d", len(capNames), unix.CAP_LAST_CAP+1)
	}
}

func TestCapSet(t *testing.T) {
	s, err := Capabilities([]string{"CAP_CHOWN", "CAP_NET_RAW", "CAP_CHECKPOINT_RESTORE"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.String(); got != "0000010000002001" {
		t.Errorf("%s: want it as /proc/PID/status prints it", got)
	}
	if _, err := Capabilities([]string{"CAP_NO_SUCH"}); err == nil || !strings.Contains(err.Error(), "CAP_NO_SUCH") {
		t.Errorf("%v: want an error that names it", err)
	}
}

func TestOptions(t *testing.T) {
	flags, data := options([]string{"nosuid", "mode=755", "ro", "rw", "rprivate", "rbind", "size=65536k"})
	if want := uintptr(unix.MS_NOSUID | unix.MS_RDONLY | unix.MS_BIND | unix.MS_REC); flags != want {
		t.Errorf("flags %#x, want %#x", flags, want)
	}
	if data != "mode=755,size=65536k" {
		t.Errorf("data %q", data)
	}
}

func TestEscape(t *testing.T) {
	if got := escape(`/a,b:c\d e`); got != `/a\,b\:c\\d e` {
		t.Error(got)
	}
}

func TestOverlayRefusesPathsThatDoNotFit(t *testing.T) {
	long := "/" + strings.Repeat("x", os.Getpagesize())
	err := Overlay{Lower: "/", Upper: long, Work: "/w"}.Mount("/nowhere")
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v: want an error before the kernel cuts the options off", err)
	}
}
