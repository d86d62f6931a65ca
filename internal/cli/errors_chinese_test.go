package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An error is two lines in Chinese too: what failed with its place, and what to type.
func TestErrorsAreInChinese(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"run", "quik"}, exitUsage, "tare: 没有名为 \"quik\" 的预设或文件；是不是想写 \"quick\"？\n提示：tare presets\n"},
		{[]string{"run", "--bugdet", "3m"}, exitUsage, "tare: 未知选项 --bugdet，是不是想写 \"--budget\"？\n提示：tare run --help\n"},
		{[]string{"check"}, exitUsage, "tare: check 需要一个结果目录\n提示：tare check DIR --max-cost throughput=5%\n"},
		{[]string{"report", "/nonexistent/r"}, exitUsage, "tare: 没有目录 /nonexistent/r\n提示：请指定 tare run 生成的目录（-o DIR）\n"},
		{[]string{"run", "--set", "rpc.concurency=8"}, exitUsage,
			"tare: --set rpc.concurency=8：rpc（rpc）没有参数 \"concurency\"；是不是想写 \"concurrency\"？\n"},
		{[]string{"run", "--budget", "2"}, exitUsage, "tare: --budget：2 没有单位；秒写作 2s\n"},
		{[]string{"run", "--volume", "nfs:x"}, exitUsage,
			"tare: --volume：卷 \"nfs:x\"：应为 nfs:SERVER:/PATH，挂载选项写在逗号后面：nfs:SERVER:/PATH,vers=4.2,nconnect=4\n"},
		{[]string{"run", "--max-cost", "foo=5%"}, exitUsage,
			"tare: 这个实验里没有指标 \"foo\"；可用的有：throughput、p50、p95、p99、cpu_per_op 和 efficiency\n提示：tare run --help\n"},
		{[]string{"run", "--verbose", "--format", "json"}, exitUsage,
			"tare: --verbose 在这里不起作用：--format 是 json\n提示：两者去掉一个：--verbose 只是让文本更详细，其他格式本来就有全部内容\n"},
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		code := Main(append([]string{"--lang=zh"}, c.args...), out, out)
		out.Close()
		if got, err := os.ReadFile(out.Name()); err != nil || code != c.code || string(got) != c.want {
			t.Errorf("tare %q ends with %d, %v:\n%swant %d:\n%s", c.args, code, err, got, c.code, c.want)
		}
	}
}

// --lang stands anywhere beside help.
func TestHelpTakesLang(t *testing.T) {
	for _, args := range []string{"--lang zh help", "help --lang=zh", "--lang=zh help run", "help kubernetes --lang zh"} {
		want := strings.Fields(args)
		want = slices.DeleteFunc(want, func(w string) bool { return strings.HasPrefix(w, "--lang") || w == "zh" })
		if got := asCommand(strings.Fields(args)); !slices.Equal(got, append(want[1:], "--help")) {
			t.Errorf("tare %s is %q", args, got)
		}
	}
	if got := asCommand([]string{"help", "--lang", "xx"}); len(got) != 3 {
		t.Errorf("a wrong --lang is left out: %q", got)
	}
}
