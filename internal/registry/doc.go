// Package registry stands between what a workspace adopted and what a turn may
// call. A world is one member's agent in one workspace; a snapshot is the
// immutable answer to what it holds, numbered by its epoch, and a turn binds
// one from start to end. One loop per process keeps the worlds that are in use
// current. Nothing here talks to anything but the database.
package registry
