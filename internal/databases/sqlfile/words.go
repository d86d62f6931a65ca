package sqlfile

// Errors: why a statement cannot run, and remedies.
const (
	ofClient      = "a command of a client, and tare sends statements to the server"
	namesAccount  = "it names accounts, and tare has one of its own"
	setsGTID      = "it sets the identifiers of the binary log, which is off while a dump is loaded"
	makesDatabase = "it names a database, and tare has one of its own"
	changesQuotes = "it changes which characters end a string, and tare would not find the statements behind it"
	tooLong       = "a statement of more than %s (statement_size)"

	noIf       = `no \if is open`
	openIf     = `\if without \endif`
	behindElse = `\else must be the last branch`
	notSet     = `no \set %s before it`
	wantBranch = `%q: want \if :NAME <= NUMBER, \elif :NAME <= NUMBER, \else or \endif`
	otherForms = "other expressions of pgbench are not for sysbench"

	zeroByte     = "a zero byte, which no SQL has"
	markedScript = "the file begins with a byte order mark, which pgbench would send to the server"

	noPrivileges = "pg_dump --no-owner --no-privileges; or remove the line"
	noGTID       = "mysqldump --set-gtid-purged=OFF; or remove the line"
	oneDatabase  = "mysqldump DATABASE without --databases, pg_dump without --create; or remove the line"
	removeIt     = "remove the line"
	correctIt    = "correct the line"
	asUTF8       = "iconv -f UTF-16 -t UTF-8 FILE, or name a file of SQL"
	dumpAgain    = "make the dump again, or complete the file"
	longer       = "--set statement_size=1GiB, or make the dump with smaller statements: mysqldump --net-buffer-length=1M"
	unmark       = "sed -i '1s/^\\xef\\xbb\\xbf//' FILE"
	nameRegular  = "name a regular file that this user can read"
	addOne       = "name a file with statements, each ended by ;"
)
