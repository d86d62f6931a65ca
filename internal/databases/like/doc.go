// Package like takes over the settings of the user's own server: from its option files, or from a running
// server that it only asks. Each setting becomes a setting of tare's, an option that the allow-list of the
// server has, or is left out with the reason. The package reads files and asks servers; it must not start
// or change anything.
package like
