// Package cluster runs the private PostgreSQL of a capstore that was not given
// a database of its own.
package cluster

// rootDir is the data folder of a capstore that runs as root.
const rootDir = "/var/lib/capstore"
