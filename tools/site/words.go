package main

// words are the sentences of the generated pages.
type words struct {
	// Of the questions.
	questions, questionsLead   string
	preset, time, question     string
	lead                       string // title and time of a preset
	run, output, outputLead    string
	outputEnglish              string // in the Chinese site: the output is of an English run
	experiment, experimentLead string // name of a preset
	pages                      string

	schemas, schemasLead string

	gallery, galleryLead, galleryPage string
	shown                             [4]shownWords

	// Of the navigation.
	documentation, project string
	titles                 map[string]string // of pages that have no short one
}

// shownWords are about a report of the gallery.
type shownWords struct{ title, text string }

var saying = map[string]words{
	english: {
		questions: "Questions",
		questionsLead: "Each question is a preset of tare: `tare run NAME` measures it on your host. The outputs are " +
			"real ones, of the machine in [results](docs/results.md).",
		preset: "preset", time: "time", question: "question",
		lead: "The preset measures: %s (%s).",
		run:  "Run it", output: "Output", outputLead: "Of the machine in [results](docs/results.md):",
		experiment: "Experiment",
		experimentLead: "`tare presets show %s > mine.yaml` prints it, for a file of your own. " +
			"[Every key](docs/experiment.md).",
		pages: "Pages on it",

		schemas: "JSON schemas",
		schemasLead: "Schemas (2020-12) of all files and outputs. [Every column and field](docs/schema/fields.md) is " +
			"explained on one page. `$id` of each is its address.",

		gallery: "Gallery",
		galleryLead: "Four reports as tare writes them: one HTML file each, without a network or a script. The records " +
			"are in the repository; the commands print the same.",
		galleryPage: "Open the report",
		shown: [4]shownWords{
			{"A database load beside a batch job", "`oltp` loses 37 % of its throughput beside busy processes that " +
				"nothing limits. `tare advise` measured this run."},
			{"A busy host and 23 seconds", "Undecided: other processes used up to 89 % of the CPUs. The report says " +
				"how long a verdict would take and what makes the host quieter."},
			{"A published study of MySQL in Kubernetes", "`tare import` reads the report lines that the study printed: " +
				"a BestEffort pod has two levels, and one run of each arm gives no verdict."},
			{"A published claim, checked", "A study of ClickHouse beside a batch job gives -24 % for a loss that is " +
				"-50 % against the baseline."},
		},

		documentation: "Documentation", project: "Project",
		titles: map[string]string{index: "tare", "docs/" + index: "All pages"},
	},
	chinese: {
		questions: "问题",
		questionsLead: "每个问题对应 tare 的一个预设：`tare run NAME` 在您的主机上测量它。输出都是实测，" +
			"机器见[测量结果](docs/results.md)（英文）。",
		preset: "预设", time: "时长", question: "问题",
		lead: "这个预设测量：%s（%s）。",
		run:  "运行", output: "输出", outputLead: "机器见[测量结果](docs/results.md)（英文）：",
		outputEnglish: "以下是英文环境中的原始输出；加 `--lang zh` 则打印中文。",
		experiment:    "实验文件",
		experimentLead: "`tare presets show %s > mine.yaml` 打印全文，可作为自己实验文件的起点。" +
			"[全部键](docs/experiment.md)（英文）。",
		pages: "相关页面",

		gallery: "报告示例",
		galleryLead: "四份报告，与 tare 写出的完全一样：每份一个 HTML 文件，不需要网络，也不含脚本。" +
			"记录在仓库里，用同样的命令可以得到同样的报告。",
		galleryPage: "打开报告",
		shown: [4]shownWords{
			{"数据库负载与批处理混部", "旁边的进程不受任何限制时，`oltp` 的吞吐量损失 37 %。这次测量来自 `tare advise`。"},
			{"繁忙的主机，只有 23 秒", "未定：其他进程最多占用 89 % 的 CPU。报告写明还要测多久才有定论，以及怎样让主机更安静。"},
			{"一份已发表的研究：Kubernetes 中的 MySQL", "`tare import` 读取这份研究给出的报告行：" +
				"BestEffort Pod 有两种水平；每个测试组只跑了一次，所以没有定论。"},
			{"核对一个已发表的数字", "一份 ClickHouse 与批处理混部的研究称损失为 -24 %，而以基线为基数是 -50 %。"},
		},

		documentation: "文档",
		titles:        map[string]string{index: "tare", "docs/" + index: "文档目录"},
	},
}
