// Package sqlfile reads SQL that the user gives: logical dumps of mysqldump and pg_dump, and files of
// statements. It splits the text into statements with their lines, refuses what the client programs would
// interpret, and names early what a data set does not have. It protects nothing: tare sends the statements
// itself, as the load's user, to a server behind a wall (package serve). It must not connect to anything.
package sqlfile
