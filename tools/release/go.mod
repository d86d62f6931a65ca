// What make release writes: a module of its own, so that neither tare nor its linters depend on packagers.
module github.com/tarelab/tare/tools/release

go 1.26.0
