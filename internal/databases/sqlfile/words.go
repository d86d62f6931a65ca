package sqlfile

// Reasons why a statement is refused, and remedies.
const (
	startsPrograms = "a command of a client, which could start a program or read a file"
	readsFiles     = "it reads or writes files of the server, or starts a program"
	changesUsers   = "it changes users or rights"
	setsServer     = "it changes the whole server"
	makesDatabase  = "it names a database, and tare has one of its own"
	endsServer     = "it ends the server or a connection"
	loadsCode      = "it loads code or reaches other servers or directories"

	noPrivileges = "pg_dump --no-owner --no-privileges; or remove the line"
	noGlobals    = "mysqldump --set-gtid-purged=OFF; or remove the line"
	oneDatabase  = "mysqldump DATABASE without --databases, pg_dump without --create; or remove the line"
	noExtensions = "pg_dump --exclude-extension, or a dump of the tables alone; or remove the line"
	asInserts    = "dump the rows into the file: mysqldump without --tab, COPY ... FROM stdin"
	removeIt     = "remove the line"
)
