package hint

// Home is the address of the project, for links. The Makefile's HOME_URL replaces it (make build).
var Home = "https://github.com/tarelab/tare"
