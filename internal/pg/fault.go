package pg

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"capstore/internal/fault"
)

// SQLSTATE codes, https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeNotRepresentable = "22021" // a byte sequence that is no text, NUL above all
	codeUntranslatable   = "22P05" // \u0000 in jsonb
	codeRestrict         = "23001" // delete refused by ON DELETE RESTRICT, since 18
	codeForeignKey       = "23503"
	codeUnique           = "23505"
	codeExclusion        = "23P01"
	codeReadOnly         = "25006"
	codeNoDatabase       = "3D000"
	codeSerialization    = "40001"
	codeDeadlock         = "40P01"
	codeDiskFull         = "53100"
	codeTooManyConns     = "53300"
	codeLockNotAvailable = "55P03"
	codeQueryCanceled    = "57014"
)

// Fault translates what the driver reports into the fault vocabulary. Nil and
// errors that hold a fault already pass unchanged, and so does everything that
// only a bug explains, such as a broken check constraint: it counts as
// Internal at the edge. The original error stays reachable by errors.Is.
func Fault(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Fault](err); ok {
		return err
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.Missing().Because(err)
	}
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return serverFault(pe, err)
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if connectionTrouble(err) {
		return unavailable(err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return timedOut(err)
	}
	return err
}

// Constraint returns the name of the constraint that err reports as broken, or
// "" when it reports none. A service uses it to word a conflict by its cause.
func Constraint(err error) string {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pe.ConstraintName
	}
	return ""
}

func serverFault(pe *pgconn.PgError, err error) error {
	switch pe.Code {
	case codeUnique, codeExclusion:
		return fault.New(fault.Conflict, "already_exists", "Something with this name or key exists already.").
			Do("Choose another name, or open the one that exists.").Because(err)
	case codeForeignKey:
		if strings.Contains(pe.Detail, "still referenced") {
			return inUse(err)
		}
		return fault.Missing().Because(err)
	case codeRestrict:
		return inUse(err)
	case codeNotRepresentable, codeUntranslatable:
		return fault.New(fault.Invalid, "invalid_text", "The input holds a NUL or bytes that are not UTF-8 text.").
			Do("Remove them and send it again.").Because(err)
	case codeSerialization, codeDeadlock, codeLockNotAvailable:
		return fault.New(fault.Conflict, "concurrent_change", "Someone else changed the same thing at this moment.").
			Do("Look at the present state and try again.").Because(err)
	case codeQueryCanceled:
		return timedOut(err)
	case codeDiskFull:
		return fault.New(fault.Unavailable, "disk_full", "The database's disk is full; nothing was saved.").
			Do("Whoever runs this server must free space.").Because(err)
	case codeReadOnly:
		return fault.New(fault.Unavailable, "database_read_only", "The database accepts no writes at the moment.").
			Do("Try again in a minute; whoever runs this server can see why the database is read-only.").Because(err)
	case codeTooManyConns:
		return fault.New(fault.Unavailable, "database_busy", "The database has no connection left for this server.").
			Do("Try again in a moment; whoever runs this server can raise max_connections.").Because(err)
	case codeNoDatabase:
		return fault.New(fault.Unavailable, "database_missing", "The database server does not have the configured database.").
			Do("Whoever runs this server can create it with createdb.").Because(err)
	}
	switch pe.Code[:min(2, len(pe.Code))] {
	case "08", "57", "58", "28": // connection, operator intervention, system error, refused sign-in
		return unavailable(err)
	case "53":
		return fault.New(fault.Unavailable, "database_busy", "The database is out of memory or another resource.").
			Do("Try again in a moment.").Because(err)
	}
	return err
}

func inUse(err error) error {
	return fault.New(fault.Conflict, "in_use", "Something else still uses this.").
		Do("Remove what uses it first.").Because(err)
}

func timedOut(err error) error {
	return fault.New(fault.Unavailable, "database_timeout", "The database took too long to answer.").
		Do("Try again; if it stays, tell whoever runs this server.").Because(err)
}

func unavailable(err error) error {
	return fault.New(fault.Unavailable, "database_unavailable", "The database cannot be reached just now.").
		Do("Try again in a minute; nothing that was confirmed is lost. Whoever runs this server can see why in its log.").Because(err)
}

// connectionTrouble reports whether err says that no working connection was
// to be had, or that one broke in use.
func connectionTrouble(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if ne, ok := errors.AsType[*net.OpError](err); ok && !ne.Timeout() {
		return true
	}
	for _, target := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.ErrClosed, puddle.ErrClosedPool,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return strings.Contains(err.Error(), "conn closed")
}
